/** Tests that an archive is written in little memory, and ends when its source or its reader does. */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { buffer } from 'node:stream/consumers';
import { expect, test } from '@jest/globals';
import PizZip from 'pizzip';
import { retainedBufferBytes } from '#libs/testing';
import { createZipStream } from './zip-stream.ts';

const modifiedAt = new Date('2026-11-25T12:00:00Z');
const createFile = (at: number, bytes: Uint8Array = randomBytes(8_000)) => ({
  path: `documents/${at}/document.json`,
  ...{ bytes, modifiedAt },
});
const fail = (error: unknown) => {
  throw error;
};

test('files are written in their order, compressed', async () => {
  const text = Buffer.from('words '.repeat(10_000));
  async function* listFiles() {
    yield { ...createFile(1, text), isCompressed: true };
    yield createFile(2, text);
    yield createFile(3, Buffer.alloc(0));
  }
  const archive = await buffer(createZipStream(listFiles(), fail));
  expect(archive.length).toBeLessThan(2_000);
  const zip = new PizZip(archive);
  expect(Object.keys(zip.files)).toEqual([1, 2, 3].map((at) => createFile(at).path));
  expect(zip.file(createFile(2).path)?.asText()).toBe(text.toString());
});

test('files that are written are not kept in memory until the end', async () => {
  const count = 2_000;
  let retained = Number.NaN;
  async function* listFiles() {
    for (let at = 0; at < 100; at += 1) yield createFile(at);
    const before = retainedBufferBytes();
    for (let at = 0; at < count; at += 1) yield createFile(100 + at);
    retained = retainedBufferBytes() - before;
  }
  for await (const _ of createZipStream(listFiles(), fail));
  // each file has 8,000 bytes, and zlib 16 KiB for it
  expect(retained / count).toBeLessThan(1_000);
});

test('a reader that leaves ends the source', async () => {
  let isEnded = false;
  async function* listFiles() {
    try {
      for (let at = 0; ; at += 1) yield createFile(at);
    } finally {
      isEnded = true;
    }
  }
  const stream = createZipStream(listFiles(), fail);
  await once(stream, 'readable');
  stream.destroy();
  await once(stream, 'close');
  // the source ends in the next turns of the event loop
  while (!isEnded) await new Promise(setImmediate);
});

test('an error of the source destroys the archive', async () => {
  const errors: unknown[] = [];
  async function* listFiles() {
    yield createFile(1);
    throw new Error('gone');
  }
  const stream = createZipStream(listFiles(), (error) => errors.push(error));
  await expect(buffer(stream)).rejects.toThrow('gone');
  expect(errors).toHaveLength(1);
});

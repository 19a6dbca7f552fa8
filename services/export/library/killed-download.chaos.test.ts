/** Kills the process that writes a library: no client takes the part it got for a library, and nothing is left. */
import { request } from 'node:http';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import PizZip from 'pizzip';
import {
  createDocument,
  type MongoReplicaSet,
  ownMongo,
  type Person,
  register,
  type TestRabbit,
  testRabbit,
  until,
} from '#libs/testing';
import { type ServiceProcess, type System, startSystem } from '../../../tests/chaos/system.ts';

const path = '/api/v1/exports/library';
const documentCount = 300;
/** Ten nodes with some kilobytes of text, so that the archive is larger than all buffers on its way. */
const nodes = Array.from({ length: 10 }, (_, at) => ({
  ...{ node_type: 'section', title: `Section ${at}` },
  content: {
    type: 'doc',
    content: [{ type: 'paragraph', content: [{ type: 'text', text: createText(at) }] }],
  },
}));

let mongo: MongoReplicaSet;
let rabbit: TestRabbit;
let system: System;
let ada: Person;

beforeAll(async () => {
  [mongo, rabbit] = await Promise.all([ownMongo(), testRabbit()]);
  const names = ['identity', 'documents', 'export'];
  system = await startSystem({ mongo: mongo.uri, rabbit: rabbit.url, names });
  ada = await register(system);
  for (let at = 0; at < documentCount; at += 20)
    await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        createDocument(system, ada.key, { title: `SOP ${at + index}`, nodes }),
      ),
    );
}, 400_000);
afterAll(async () => {
  await system?.stop();
  await mongo?.stop();
  await rabbit?.stop();
});

/** Text that a zip cannot shorten to nothing. */
function createText(seed: number): string {
  const words = Array.from({ length: 400 }, (_, at) => ((at * 7919 + seed * 104_729) ** 2).toString(36));
  return words.join(' ');
}

const getExport = (): ServiceProcess => {
  const found = system.processes.find(({ name }) => name === 'export');
  if (!found) throw new Error('There is no export service');
  return found;
};

/** Downloads the library. Calls `onPart` with the number of bytes so far; rejects if the response is cut off. */
function download(onPart: (bytes: number) => void): Promise<Buffer> {
  const parts: Buffer[] = [];
  let bytes = 0;
  return new Promise((resolve, reject) => {
    const url = new URL(path, getExport().origin);
    const sent = request(url, { headers: { authorization: `Bearer ${ada.key}` } }, (response) => {
      response.on('data', (part: Buffer) => {
        parts.push(part);
        bytes += part.length;
        onPart(bytes);
      });
      response.on('error', () =>
        reject(Object.assign(new Error('cut off'), { received: Buffer.concat(parts) })),
      );
      response.on('end', () => resolve(Buffer.concat(parts)));
    });
    sent.on('error', reject).end();
  });
}

const countDocuments = (archive: Buffer): number =>
  JSON.parse(new PizZip(archive).file('manifest.json')?.asText() ?? '{}').documents.length;

/** The rows of documents and of the export, without the events of each download. */
const countRows = async () => {
  const all = (await system.db.listCollections().toArray()).map(({ name }) => name).sort();
  const names = all.filter((name) => /^(documents|nodes|export)/.test(name) && !name.endsWith('_outbox'));
  return Promise.all(names.map(async (name) => [name, await system.db.collection(name).countDocuments()]));
};

test('a SIGKILL during the download leaves a zip that cannot be opened', async () => {
  const whole = await download(() => undefined);
  expect(countDocuments(whole)).toBe(documentCount);
  const before = await countRows();
  for (const share of [0.2, 0.8]) {
    // on a busy machine, the buffers on the way may hold the rest when the process is killed
    const failure = await until('a download that is cut off', async () => {
      let restarted: Promise<void> | undefined;
      const result = await download((bytes) => {
        if (bytes > whole.length * share) restarted ??= getExport().killAndRestart();
      }).catch((error: Error & { received?: Buffer }) => error);
      await restarted;
      return !Buffer.isBuffer(result) && result;
    });
    expect(failure.received?.length).toBeLessThan(whole.length);
    expect(() => new PizZip(failure.received ?? '')).toThrow();
  }
  const again = await until('the library after the restart', async () =>
    download(() => undefined).catch(() => undefined),
  );
  expect(countDocuments(again)).toBe(documentCount);
  expect(await countRows()).toEqual(before);
}, 300_000);

/** Tests the names and the contents of downloads. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { closeServer, listenLocally } from '../../../libs/testing/mod.ts';
import { type Download, parseFileName } from './download.ts';
import { ConnectionError, createClient } from './mod.ts';

test.each([
  [`attachment; filename="SOP.docx"`, 'SOP.docx'],
  [`attachment; filename=SOP.docx`, 'SOP.docx'],
  [`attachment; filename="?.docx"; filename*=UTF-8''%E2%82%AC%20rates.docx`, '€ rates.docx'],
  [`attachment; filename="say \\"hi\\".md"`, 'say "hi".md'],
  [`attachment; filename*=UTF-8''%E0; filename="plain.md"`, 'plain.md'],
  [`attachment; filename="../../etc/passwd"`, 'passwd'],
  [`attachment; filename*=UTF-8''..%5C..%5Cboot.ini`, 'boot.ini'],
  [`attachment; filename*=utf-8''a%0A%2F..%2F..%2Fx`, 'x'],
  [`attachment; filename="a; filename=b.md"; size=3`, 'a; filename=b.md'],
  [`attachment; filename="a; filename*=utf-8''b"`, "a; filename*=utf-8''b"],
  [`attachment; FileName = SOP.docx; filename=b`, 'SOP.docx'],
  [`attachment; filename="a.md`, undefined],
  [`attachment; filename*=UTF-8'en'SOP.md`, 'SOP.md'],
  [`attachment; filename=".."`, undefined],
  [`attachment; filename=a/.`, undefined],
  [`attachment; filename*=UTF-8''a%00b`, undefined],
  [`attachment; filename*=UTF-8''a%0Ab`, undefined],
  [`attachment; filename*=UTF-8''a%C2%9Bb`, undefined],
  ['attachment', undefined],
  ['', undefined],
])('the file name of %j', (header, expected) => {
  expect(parseFileName(header)).toBe(expected);
});

describe('the content', () => {
  let server: Server;
  let url: string;
  let answer: (request: IncomingMessage, response: ServerResponse) => void;
  beforeAll(async () => {
    server = createServer((request, response) => answer(request, response));
    url = `http://127.0.0.1:${await listenLocally(server)}`;
  });
  afterAll(() => closeServer(server));

  const download = (signal?: AbortSignal) =>
    createClient({ url }).exportMarkdown({ doc_id: 'x' }, { signal, timeoutMs: 5_000 });
  const read = async (file: Download) => {
    const parts: Blob[] = [];
    // a part and the bytes of a file have a type that a `Blob` takes
    for await (const part of file.stream) parts.push(new Blob([part]));
    return new Blob(parts).text();
  };
  const readers: [string, (file: Download) => Promise<unknown>][] = [
    ['bytes', async (file) => new Blob([await file.bytes()]).text()],
    ['text', (file) => file.text()],
    ['blob', async (file) => (await file.blob()).text()],
    ['stream', read],
  ];

  test.each(readers)('is read as %s, once', async (_, readFile) => {
    answer = (_request, response) =>
      void response.writeHead(200, { 'content-type': 'text/markdown' }).end('# Ä');
    const file = await download();
    expect(await readFile(file)).toBe('# Ä');
    for (const again of [file.bytes, file.text, file.blob])
      await expect(again()).rejects.toThrow(/^The content of a download can be read once/);
    expect((await (await download()).blob()).type).toBe('text/markdown');
  });

  test.each(readers)('that breaks off is a connection error for %s', async (_, readFile) => {
    answer = (request, response) => {
      response.writeHead(200, { 'content-length': '100' });
      response.write('# A', () => request.socket.destroy());
    };
    const error = await readFile(await download()).catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ConnectionError);
    expect((error as Error).cause).toBeInstanceOf(TypeError);
  });

  test.each(readers)(
    'of a call that is ended rejects with the reason of its signal for %s',
    async (_, readFile) => {
      answer = (_request, response) => void response.writeHead(200).write('# A');
      const controller = new AbortController();
      const file = await download(controller.signal);
      const rejected = expect(readFile(file)).rejects.toThrow('stopped by the user');
      controller.abort(new Error('stopped by the user'));
      await rejected;
    },
  );

  test('closes the connection if its stream is cancelled', async () => {
    const closed = Promise.withResolvers<void>();
    answer = (request, response) => {
      request.socket.once('close', closed.resolve);
      response.writeHead(200).write('# A');
    };
    await (await download()).stream.cancel();
    await closed.promise;
  });
});

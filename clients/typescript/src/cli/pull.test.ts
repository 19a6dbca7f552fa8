/** Tests that pull can be interrupted at any time. */
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { closeServer, listenLocally, until } from '../../../../libs/testing/mod.ts';
import { readBases } from './document-files.ts';
import { runCommandLine } from './run.ts';

let folder: string;
let server: Server;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pds-pull-'));
});
afterEach(async () => {
  await closeServer(server);
  await rm(folder, { recursive: true });
});

async function pull(respond: RequestListener): Promise<number> {
  server = createServer(respond);
  const PDS_URL = `http://127.0.0.1:${await listenLocally(server)}`;
  const output = () => new Writable({ write: (_chunk, _encoding, done) => done() });
  return runCommandLine(['pull', '.'], {
    ...{ stdin: Readable.from([]), stdout: output(), stderr: output(), cwd: folder },
    ...{ env: { PDS_URL, PDS_KEY: 'pds_key' }, signal: new AbortController().signal },
  });
}

test('the checksums of a document are stored before the pull ends', async () => {
  const ids = ['a', 'b', 'c', 'd'];
  let early: unknown;
  const code = await pull(async ({ url = '' }, response) => {
    const id = /documents\/(\w)/.exec(url)?.[1];
    const document = { id, title: id, version: null, department: null, language: null, nodes: [] };
    if (id === 'd' && early === undefined) {
      const isStored = async () => {
        const bases = await readBases(folder);
        early = [...bases].filter(([, { markdown }]) => markdown).map(([stored]) => stored);
        return bases.size === 3 && (early as string[]).length === 3;
      };
      await until('the checksums of the other documents', isStored);
    }
    if (url.includes('/export/')) return void response.end(`# ${id}`);
    response.setHeader('content-type', 'application/json').setHeader('etag', '"1"');
    response.end(JSON.stringify(id ? document : ids.map((one) => ({ id: one, title: one }))));
  });
  expect([code, (early as string[]).sort()]).toEqual([0, ['a', 'b', 'c']]);
  const bases = await readBases(folder);
  expect([...bases.values()].map(({ etag }) => etag)).toEqual(['"1"', '"1"', '"1"', '"1"']);
  expect(JSON.parse(await readFile(join(folder, 'a.json'), 'utf8')).id).toBe('a');
});

/** Tests that a push creates no document that its file does not know. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { closeServer, listenLocally } from '../../../../libs/testing/mod.ts';
import type { Client } from '../client.ts';
import { pushFile } from './push-file.ts';
import { pushImport } from './push-imports.ts';
import { runCommandLine } from './run.ts';

let folder: string;
let server: Server | undefined;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pds-push-'));
});
afterEach(async () => {
  if (server) await closeServer(server);
  server = undefined;
  await rm(folder, { recursive: true });
});

const created = { id: 'a', title: 'A', version: null, department: null, language: null, nodes: [] };

/** Runs `pds push .` in the folder. Returns its exit code and what it prints to stderr. */
async function push(respond: RequestListener, signal = new AbortController().signal, paths = ['.']) {
  server = createServer(respond);
  const PDS_URL = `http://127.0.0.1:${await listenLocally(server)}`;
  let notes = '';
  const stderr = new Writable({
    write(chunk, _encoding, done) {
      notes += chunk;
      done();
    },
  });
  const stdout = new Writable({ write: (_chunk, _encoding, done) => done() });
  const code = await runCommandLine(['push', ...paths], {
    ...{ stdin: Readable.from([]), stdout, stderr, cwd: folder },
    ...{ env: { PDS_URL, PDS_KEY: 'pds_key' }, signal },
  });
  return { code, notes };
}

test('an interrupted push writes the id of the document that it creates', async () => {
  for (const name of ['a', 'b']) await writeFile(join(folder, `${name}.json`), '{ "title": "A" }');
  const interruption = new AbortController();
  let requests = 0;
  const { code, notes } = await push((_request, response) => {
    requests += 1;
    interruption.abort(new Error('Interrupted.'));
    response.setHeader('content-type', 'application/json').setHeader('etag', '"1"');
    setImmediate(() => response.writeHead(201).end(JSON.stringify(created)));
  }, interruption.signal);
  expect([code, requests]).toEqual([130, 1]);
  expect(notes).toContain('Press Ctrl-C again');
  expect(JSON.parse(await readFile(join(folder, 'a.json'), 'utf8')).id).toBe('a');
});

test('two files of one document are rejected also if they are named', async () => {
  for (const name of ['a.json', 'b.json'])
    await writeFile(join(folder, name), JSON.stringify({ id: 'x', title: name }));
  let requests = 0;
  const respond: RequestListener = (_request, response) => {
    requests += 1;
    response.end();
  };
  const { code, notes } = await push(respond, undefined, ['a.json', 'b.json']);
  expect([code, requests]).toEqual([1, 0]);
  expect(notes).toContain('b.json have the same id');
});

describe('a draft whose creation has no response', () => {
  let keys: unknown[];
  let posts: number;
  beforeEach(() => {
    [keys, posts] = [[], 0];
  });

  /** Pushes to a service whose first responses have these statuses, and records the idempotency keys. */
  const pushTo = async (...statuses: number[]) => {
    const result = await push(async (request, response) => {
      request.resume();
      const isImport = request.url === '/api/v1/imports';
      if (request.method === 'POST') {
        posts += 1;
        keys.push(request.headers['idempotency-key']);
      }
      const status = request.method === 'POST' ? (statuses.shift() ?? 201) : 200;
      const type = status > 299 ? 'application/problem+json' : 'application/json';
      response.writeHead(status, { 'content-type': type, etag: '"1"', 'retry-after': '0' });
      const report = { nodes: 0, pictures: 0, dropped: [], warnings: [] };
      const body = isImport ? { documents: [{ id: 'a' }], report } : created;
      response.end(JSON.stringify(status > 299 ? { code: 'unavailable', status } : body));
    });
    if (server) await closeServer(server);
    server = undefined;
    return result;
  };
  const unavailable = [503, 503, 503, 503];

  test.each([
    ['a.json', '{"title":"A"}', '{"title":"B"}'],
    ['a.md', '# A', '# B'],
  ])('%s is created with the same key by the next push', async (name, content, changed) => {
    const path = join(folder, name);
    await writeFile(path, content);
    expect((await pushTo(...unavailable)).code).toBe(6);
    expect(new Set(keys).size).toBe(1);
    // another content is another request
    await writeFile(path, changed);
    await pushTo(...unavailable);
    expect(new Set(keys).size).toBe(2);
    keys = keys.slice(-1);
    expect((await pushTo()).code).toBe(0);
    expect(new Set(keys).size).toBe(1);
    expect(JSON.parse(await readFile(join(folder, 'a.json'), 'utf8')).id).toBe('a');
    expect(Object.keys(JSON.parse(await readFile(join(folder, '.pds.json'), 'utf8')))).toEqual(['a']);
  });

  test('a rejected request is sent with a new key', async () => {
    await writeFile(join(folder, 'a.json'), '{"title":"A"}');
    await pushTo(400);
    await pushTo();
    expect([posts, new Set(keys).size]).toEqual([2, 2]);
  });
});

describe('a folder that cannot be written', () => {
  const options = { revise: false, publish: false, force: false, 'dry-run': false, 'accept-changes': false };
  const requests: string[] = [];
  // every operation of the client, which also has its namespaces
  const client = new Proxy(
    {},
    {
      get: (_target, name) =>
        name === 'withResponse' ? client : async () => void requests.push(name.toString()),
    },
  ) as Client;
  afterEach(() => {
    requests.length = 0;
  });

  test('a document file creates no draft there', async () => {
    const content = { title: 'A', version: null, department: null, language: null, nodes: [] };
    const file = { path: join(folder, 'missing', 'a.json'), id: undefined, content };
    await expect(pushFile(client, file, options)).rejects.toThrow('Cannot write to');
    expect(requests).toEqual([]);
  });

  test('a file to import creates no draft there', async () => {
    const path = join(folder, 'missing', 'a.html');
    const imported = pushImport(client, path, {
      ...{ isDryRun: false, isPublished: false, acceptChanges: false, ambiguous: new Set<string>() },
    });
    await expect(imported).rejects.toThrow('Cannot write to');
    expect(requests).toEqual([]);
  });
});

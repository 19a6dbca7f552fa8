/** Tests that a push creates no document that its file does not know. */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { closeServer, listenLocally, textCollector } from '../../../../libs/testing/mod.ts';
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

/** Runs `pds push .` in the folder. Returns its exit code and what it prints. */
async function push(respond: RequestListener, signal = new AbortController().signal, paths = ['.']) {
  server = createServer(respond);
  const PDS_URL = `http://127.0.0.1:${await listenLocally(server)}`;
  const output = textCollector();
  const code = await runCommandLine(['push', ...paths], {
    ...{ stdin: Readable.from([]), stdout: output.stream, stderr: output.stream, cwd: folder },
    ...{ env: { PDS_URL, PDS_KEY: 'pds_key' }, signal },
  });
  return { code, notes: output.text() };
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
  /** The idempotency keys of the requests that create. */
  let keys: unknown[];
  beforeEach(() => {
    keys = [];
  });

  /** Answers a request that creates: with a status, a lost response, or the response of an earlier request. */
  type Answer = number | 'lost' | 'replayed';

  /** Pushes to a service that gives these answers, then 201. `isDeleted`: the draft does not exist any more. */
  const pushTo = async (answers: Answer[], { isDeleted = false, path = '.', args = [] as string[] } = {}) => {
    const respond: RequestListener = (request, response) => {
      request.resume();
      const isCreation = request.method === 'POST';
      if (isCreation) keys.push(request.headers['idempotency-key']);
      const answer = isCreation ? (answers.shift() ?? 201) : isDeleted ? 404 : 200;
      if (answer === 'lost') return void request.socket.destroy();
      const status = answer === 'replayed' ? 201 : answer;
      const isProblem = status > 299;
      response.writeHead(status, {
        'content-type': isProblem ? 'application/problem+json' : 'application/json',
        ...{ etag: '"1"', 'retry-after': '0' },
        ...(answer === 'replayed' && { 'idempotency-replayed': 'true' }),
      });
      // the second draft has another id
      const id = answer === 'replayed' ? 'a' : 'b';
      const report = { nodes: 0, pictures: 0, dropped: [], warnings: [] };
      const isImport = request.url === '/api/v1/imports';
      const body = isImport ? { documents: [{ id }], report } : { ...created, id };
      response.end(JSON.stringify(isProblem ? { code: codes[status], status } : body));
    };
    const result = await push(respond, undefined, [path, ...args]);
    if (server) await closeServer(server);
    server = undefined;
    return result;
  };
  const codes: Record<number, string> = { 400: 'idempotency_key_reused', 404: 'not_found' };
  const lost: Answer[] = ['lost', 'lost', 'lost', 'lost'];
  const countKeys = () => new Set(keys).size;
  const readId = async () => JSON.parse(await readFile(join(folder, 'a.json'), 'utf8')).id;
  const readNames = async () => Object.keys(JSON.parse(await readFile(join(folder, '.pds.json'), 'utf8')));

  test.each([
    ['a.json', '{"title":"A"}', '{"title":"B"}'],
    ['a.md', '# A', '# B'],
  ])('%s is created with the same key by the next push', async (name, content, changed) => {
    const path = join(folder, name);
    await writeFile(path, content);
    expect((await pushTo([...lost])).code).toBe(6);
    // an error says nothing about the first request
    for (const status of [401, 403, 409]) await pushTo([status]);
    expect(countKeys()).toBe(1);
    // another content is another request
    await writeFile(path, changed);
    await pushTo([403]);
    expect(countKeys()).toBe(2);
    keys = keys.slice(-1);
    expect((await pushTo(['replayed'])).code).toBe(0);
    expect([countKeys(), await readId(), await readNames()]).toEqual([1, 'a', ['a']]);
  });

  test('an import with other options is another request', async () => {
    await writeFile(join(folder, 'a.md'), '# A');
    await pushTo([403]);
    await pushTo([403], { args: ['--accept-changes'] });
    expect(countKeys()).toBe(2);
  });

  test.each(['a.json', 'a.md'])('%s is created again if its draft was deleted since', async (name) => {
    await writeFile(join(folder, name), name === 'a.md' ? '# A' : '{"title":"A"}');
    await pushTo([403]);
    await pushTo(['replayed'], { isDeleted: true });
    expect(countKeys()).toBe(2);
    if (name === 'a.json') expect([await readId(), await readNames()]).toEqual(['b', ['b']]);
  });

  test('a key that belongs to another request is replaced', async () => {
    await writeFile(join(folder, 'a.json'), '{"title":"A"}');
    await pushTo([403]);
    expect((await pushTo([400])).code).toBe(0);
    expect([countKeys(), await readId()]).toEqual([2, 'b']);
  });

  test('a draft that a pull has written to another file is named', async () => {
    await writeFile(join(folder, 'a.json'), '{"title":"A"}');
    await pushTo([403]);
    await writeFile(join(folder, 'pulled.json'), JSON.stringify(created));
    // other files of the folder may be no documents
    await writeFile(join(folder, 'package.json'), '{"private":true}');
    // each push says so, until one of the files is deleted
    for (let pushes = 0; pushes < 2; pushes += 1) {
      const { code, notes } = await pushTo(['replayed'], { path: 'a.json' });
      expect([code, countKeys(), await readId()]).toEqual([1, 1, undefined]);
      expect(notes).toContain('created the draft a from this file, and pulled.json has it now');
    }
    await rm(join(folder, 'pulled.json'));
    expect((await pushTo(['replayed'], { path: 'a.json' })).code).toBe(0);
    expect(await readId()).toBe('a');
  });

  test('a deleted draft whose response was not stored is created again', async () => {
    await writeFile(join(folder, 'a.json'), '{"title":"A"}');
    await pushTo([403]);
    expect((await pushTo([404])).code).toBe(0);
    expect([countKeys(), await readId()]).toEqual([2, 'b']);
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

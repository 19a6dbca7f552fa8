/** Tests that the program finishes its work although nobody reads its output. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, open, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer, type RequestListener, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { json, text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { closeServer, listenLocally } from '../../../../libs/testing/mod.ts';

const program = join(import.meta.dirname, 'main.ts');

let folder: string;
let server: Server;
let url: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pds-main-'));
  let count = 0;
  const respond: RequestListener = async (request, response) => {
    if (request.method === 'GET') return void response.end('# A\n'.repeat(100_000));
    const document = { nodes: [], ...((await json(request)) as { title: string }) };
    const isInvalid = document.title === 'b';
    const type = isInvalid ? 'application/problem+json' : 'application/json';
    response.writeHead(isInvalid ? 400 : 201, { 'content-type': type, etag: '"1"' });
    response.end(
      JSON.stringify(isInvalid ? { code: 'invalid_request' } : { ...document, id: `d${++count}` }),
    );
  };
  server = createServer(respond);
  url = `http://127.0.0.1:${await listenLocally(server)}`;
});
afterEach(async () => {
  await closeServer(server);
  await rm(folder, { recursive: true });
});

/** Runs the program and closes the pipes of its output at once. Returns its exit code. */
async function runUnread(args: readonly string[], closed: readonly ('stdout' | 'stderr')[]) {
  const env = { PATH: process.env.PATH, HOME: folder, PDS_URL: url, PDS_KEY: 'pds_key' };
  const child = spawn(process.execPath, [program, ...args], { cwd: folder, env });
  for (const name of closed) child[name].destroy();
  const [code] = await once(child, 'exit');
  return code;
}

test('push continues and keeps its exit code if nobody reads', async () => {
  for (const name of ['a', 'b', 'c'])
    await writeFile(join(folder, `${name}.json`), JSON.stringify({ title: name }));
  await writeFile(join(folder, 'd.doc'), 'for a line on stderr');
  expect(await runUnread(['push', '.'], ['stdout', 'stderr'])).toBe(1);
  const read = async (name: string) => JSON.parse(await readFile(join(folder, `${name}.json`), 'utf8')).id;
  expect([await read('a'), await read('b'), await read('c')]).toEqual(['d1', undefined, 'd2']);
});

test('output that cannot be written is reported', async () => {
  await writeFile(join(folder, 'file'), '');
  // as with a full disk, each write fails
  const output = await open(join(folder, 'file'), 'r');
  try {
    const env = { PATH: process.env.PATH, HOME: folder };
    const child = spawn(process.execPath, [program, '--help'], { env, stdio: ['ignore', output.fd, 'pipe'] });
    if (!child.stderr) throw new Error('stderr is a pipe');
    const [[code], errors] = await Promise.all([once(child, 'exit'), text(child.stderr)]);
    expect([code, errors]).toEqual([1, expect.stringContaining('Cannot write the output: EBADF')]);
  } finally {
    await output.close();
  }
});

test('a download to a reader that has ended is no failure', async () => {
  const args = ['docs', 'export', 'x', '--format', 'markdown', '--output', '-'];
  expect(await runUnread(args, ['stdout'])).toBe(0);
});

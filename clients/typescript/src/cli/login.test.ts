/** Tests that commands with a password end their session, and keep their result if that fails. */

import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough, Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { textCollector } from '../../../../libs/testing/mod.ts';
import { readStoredCredentials, writeStoredCredentials } from './credentials.ts';
import { runCommandLine } from './run.ts';

const responses: Record<string, object> = {
  '/auth/login': { access_token: 'access', refresh_token: 'refresh' },
  '/me': { user: { email: 'ada@acme.example' }, organization: { slug: 'acme' }, member: { role: 'member' } },
  '/approvals/x': { content_hash: 'hash' },
  '/documents/x': { content_hash: null },
  '/approvals/x/decision': { status: 'approved', approvers: [] },
};

let folder: string;
let env: Record<string, string>;
let server: Server;
let paths: string[];
/** How many keys were created, and which were revoked with which key. */
let created: number;
let revoked: unknown[];
/** The body of the last login. */
let loginBody: string;
/** Called with the path of each request. Returns whether the connection breaks instead of a response. */
let breaks: (path: string) => boolean;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pds-login-'));
  paths = [];
  [created, revoked] = [0, []];
  breaks = () => false;
  const respond: RequestListener = async (request: IncomingMessage, response) => {
    const { url = '', method, headers, socket } = request;
    const path = url.replace('/api/v1', '');
    paths.push(path);
    if (breaks(path)) return void socket.destroy();
    const body = await text(request);
    if (path === '/auth/login') loginBody = body;
    if (path === '/api-keys') created += 1;
    const key = { id: `k${created}`, key: created === 1 ? 'pds_new' : `pds_new${created}` };
    if (method === 'DELETE') revoked.push([path, headers.authorization]);
    if (path === '/auth/logout' || method === 'DELETE') response.writeHead(204).end();
    else
      response
        .setHeader('content-type', 'application/json')
        .end(JSON.stringify(path === '/api-keys' ? key : responses[path]));
  };
  server = createServer(respond).listen(0, '127.0.0.1');
  await new Promise((resolve) => server.once('listening', resolve));
  env = { XDG_CONFIG_HOME: folder, PDS_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await rm(folder, { recursive: true });
});

const asAda = ['--email', 'ada@acme.example'];

async function run(
  args: readonly string[],
  signal = new AbortController().signal,
  input: string | Readable = 'secret\n',
  identity = asAda,
) {
  const [stdout, stderr] = [textCollector(), textCollector()];
  const streams = {
    stdin: typeof input === 'string' ? Readable.from([input]) : input,
    ...{ stdout: stdout.stream, stderr: stderr.stream },
  };
  const code = await runCommandLine([...args, ...identity], {
    ...streams,
    ...{ env, cwd: folder, signal },
  });
  return { code, stdout: stdout.text(), stderr: stderr.text() };
}

test('login stores the new key if logging out fails', async () => {
  breaks = (path) => path === '/auth/logout';
  const { code, stderr } = await run(['login']);
  expect([code, stderr]).toEqual([0, expect.stringContaining('Could not log out: POST /api/v1/auth/logout')]);
  expect(await readStoredCredentials(env)).toMatchObject({ key: 'pds_new', key_id: 'k1' });
});

test('login creates no key that it could not store', async () => {
  await writeFile(join(folder, 'pds'), 'a file in place of the folder');
  const { code, stderr } = await run(['login']);
  expect([code, paths]).toEqual([1, []]);
  expect(stderr).toContain('Cannot create the folder');
});

test('logout without a connection says what to do', async () => {
  await run(['login']);
  breaks = () => true;
  const { code, stderr } = await run(['logout'], undefined, '', []);
  expect([code, stderr]).toEqual([
    6,
    expect.stringContaining('you are still logged in. Try again, or delete'),
  ]);
  expect(await readStoredCredentials(env)).toMatchObject({ key_id: 'k1' });
});

test('an interruption ends the wait for a piped password', async () => {
  const stdin = new PassThrough();
  const interruption = new AbortController();
  setTimeout(() => interruption.abort(), 50);
  expect((await run(['login'], interruption.signal, stdin)).code).toBe(130);
});

test('login stores the new key before it asks who the user is', async () => {
  breaks = (path) => path === '/me';
  expect((await run(['login'])).code).toBe(6);
  expect(await readStoredCredentials(env)).toMatchObject({ key: 'pds_new', key_id: 'k1' });
});

test('a second login revokes the key of the first one', async () => {
  await run(['login']);
  expect(revoked).toEqual([]);
  expect((await run(['login'])).code).toBe(0);
  expect(revoked).toEqual([['/api-keys/k1', 'Bearer pds_new']]);
  expect(await readStoredCredentials(env)).toMatchObject({ key: 'pds_new2', key_id: 'k2' });
});

test('a second login works if the old key cannot be revoked', async () => {
  await run(['login']);
  breaks = (path) => path === '/api-keys/k1';
  const { code, stderr } = await run(['login']);
  expect([code, stderr]).toEqual([0, expect.stringContaining('Could not revoke the API key k1')]);
  expect(await readStoredCredentials(env)).toMatchObject({ key: 'pds_new2', key_id: 'k2' });
});

test('a key of another service is not revoked', async () => {
  await writeStoredCredentials(env, { url: 'http://127.0.0.1:9', key: 'pds_other', key_id: 'k9' });
  expect(await run(['login'])).toMatchObject({ code: 0, stderr: '' });
  expect(revoked).toEqual([]);
});

test('a decision is reported if logging out fails', async () => {
  breaks = (path) => path === '/auth/logout';
  const { code, stdout } = await run(['approvals', 'approve', 'x']);
  expect([code, stdout]).toEqual([0, expect.stringContaining('The request is approved.')]);
});

test('an acknowledgement of a document without a content hash is not sent', async () => {
  const { code, stderr } = await run(['acknowledgements', 'confirm', 'x']);
  expect([code, stderr]).toEqual([1, expect.stringContaining('was changed after its publication')]);
  expect(paths).toEqual(['/auth/login', '/documents/x', '/auth/logout']);
});

test('an interrupted command logs out', async () => {
  const controller = new AbortController();
  breaks = (path) => {
    if (path === '/approvals/x/decision') controller.abort();
    return controller.signal.aborted && path !== '/auth/logout';
  };
  const { code } = await run(['approvals', 'approve', 'x'], controller.signal);
  expect([code, paths.at(-1)]).toEqual([130, '/auth/logout']);
});

test.each(['\n', '\r\n', ''])('a password keeps its spaces, without the line break %j', async (end) => {
  await run(['login'], undefined, `  pass word ${end}`);
  expect(JSON.parse(loginBody).password).toBe('  pass word ');
});

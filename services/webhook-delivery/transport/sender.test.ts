/** Tests single requests against real servers: content, limits, blocked targets and TLS. */
import { createServer } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import {
  freePorts,
  listenLocally,
  type Responder,
  until,
  type WebhookReceiver,
  webhookReceiver,
} from '#libs/testing';
import { type Certificate, selfSigned } from '../testing/certificate.ts';
import { createSender, type Sender } from './sender.ts';

const local = { allowLoopback: true, allowedRanges: [] };
const strict = { allowLoopback: false, allowedRanges: [] };
const day = 86_400_000;
const inDays = (days: number) => new Date(Date.now() + days * day);

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const item of open.splice(0)) await item.close();
});

async function startReceiver(respond?: Responder, tls?: Certificate) {
  const created = await webhookReceiver(respond, tls ? { tls } : {});
  open.push(created);
  return created;
}

function createTestSender(partial: Partial<Parameters<typeof createSender>[0]> = {}): Sender {
  const created = createSender({
    policy: local,
    timeoutMs: 10_000,
    resolve: async () => ['127.0.0.1'],
    ...partial,
  });
  open.push(created);
  return created;
}

const message = { headers: { 'Content-Type': 'application/json', 'X-Mark': 'm' }, body: '{"größe":1}' };
const toRequest = (url: string) => ({ url, ...message });

test('the body and the headers arrive unchanged', async () => {
  const receiver = await startReceiver();
  const outcome = await createTestSender().send(toRequest(receiver.url));
  expect(outcome).toMatchObject({ http_status: 204, error: null });
  expect(receiver.received).toMatchObject([{ body: message.body, headers: { 'x-mark': 'm' } }]);
});

describe('response statuses', () => {
  test.each([
    [200, null],
    [302, 'status_302'],
    [410, 'status_410'],
    [500, 'status_500'],
  ])('status %i is returned with its error code', async (status, error) => {
    const receiver = await startReceiver(() => status);
    expect(await createTestSender().send(toRequest(receiver.url))).toMatchObject({
      http_status: status,
      error,
    });
  });
});

test('a redirect is not followed', async () => {
  const redirectTarget = await startReceiver();
  const receiver = await startReceiver(() => ({ status: 307, headers: { location: redirectTarget.url } }));
  expect(await createTestSender().send(toRequest(receiver.url))).toMatchObject({ http_status: 307 });
  expect(redirectTarget.received).toEqual([]);
});

test('the Retry-After header is returned', async () => {
  const receiver = await startReceiver(() => ({ status: 503, headers: { 'retry-after': '120' } }));
  expect(await createTestSender().send(toRequest(receiver.url))).toMatchObject({ retry_after: '120' });
});

test('a response that is too late is a timeout without a status', async () => {
  const receiver = await startReceiver(() => new Promise(() => {}));
  const outcome = await createTestSender({ timeoutMs: 100 }).send(toRequest(receiver.url));
  expect(outcome).toMatchObject({ http_status: null, error: 'timeout' });
});

test('a hanging DNS lookup ends at the request timeout', async () => {
  const outcome = await createTestSender({ timeoutMs: 100, resolve: () => new Promise(() => {}) }).send(
    toRequest('https://example.com/'),
  );
  expect(outcome).toMatchObject({ http_status: null, error: 'timeout' });
});

test('an endless response body is not read to its end', async () => {
  let written = 0;
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => {
      socket.write('HTTP/1.1 200 OK\r\nContent-Type: text/plain\r\n\r\n');
      const more = () => {
        while (!socket.destroyed && socket.write(Buffer.alloc(64 * 1024))) written += 64 * 1024;
      };
      socket.on('drain', more);
      more();
    });
  });
  const port = await listenLocally(server);
  const outcome = await createTestSender().send(toRequest(`http://127.0.0.1:${port}/`));
  server.close();
  expect(outcome).toMatchObject({ http_status: 200, error: null });
  expect(written).toBeLessThan(64 * 1024 * 1024);
});

test('a slow response body ends at the timeout and keeps the status', async () => {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nx'));
  });
  const port = await listenLocally(server);
  const sender = createTestSender({ timeoutMs: 200 });
  // on a busy machine, the headers may arrive after the timeout
  const outcome = await until('a response whose headers arrive in time', async () => {
    const result = await sender.send(toRequest(`http://127.0.0.1:${port}/`));
    return result.http_status !== null && result;
  });
  server.close();
  expect(outcome).toMatchObject({ http_status: 200, error: null });
});

test('response headers over 16 KiB are an error', async () => {
  const receiver = await startReceiver(() => ({ status: 200, headers: { 'x-long': 'x'.repeat(20_000) } }));
  expect(await createTestSender().send(toRequest(receiver.url))).toMatchObject({
    http_status: null,
    error: 'headers_too_large',
  });
});

test('a refused or closed connection has its own error code', async () => {
  const [unused] = await freePorts(1);
  expect(await createTestSender().send(toRequest(`http://127.0.0.1:${unused}/`))).toMatchObject({
    http_status: null,
    error: 'econnrefused',
  });
  const server = createServer((socket) => socket.once('data', () => socket.destroy()));
  const port = await listenLocally(server);
  const outcome = await createTestSender().send(toRequest(`http://127.0.0.1:${port}/`));
  server.close();
  expect(outcome).toMatchObject({
    http_status: null,
    error: 'econnreset',
  });
});

describe('blocked loopback targets', () => {
  test.each([
    ['127.0.0.1', 'https://127.0.0.1'],
    ['decimal', 'https://2130706433'],
    ['hexadecimal', 'https://0x7f.1'],
    ['octal', 'https://0177.0.0.1'],
    ['short', 'https://127.1'],
    ['IPv6', 'https://[::1]'],
    ['IPv4-mapped', 'https://[::ffff:127.0.0.1]'],
    ['IPv4-compatible', 'https://[::7f00:1]'],
    ['NAT64', 'https://[64:ff9b::7f00:1]'],
    ['6to4', 'https://[2002:7f00:1::]'],
    ['a resolved name', 'https://rebound.example'],
  ])('loopback is blocked as %s', async (_, origin) => {
    const certificate = selfSigned('localhost', inDays(-1), inDays(1));
    const receiver = await startReceiver(undefined, certificate);
    const createStrict = createTestSender({ policy: strict, ca: certificate.cert });
    const outcome = await createStrict.send(toRequest(`${origin}:${receiver.port}/`));
    expect(outcome).toMatchObject({ http_status: null, error: 'address_refused' });
    expect(receiver.received).toEqual([]);
  });

  test('http is rejected before the name is resolved', async () => {
    const resolve = () => Promise.reject(new Error('The name was resolved'));
    const outcome = await createTestSender({ policy: strict, resolve }).send(
      toRequest('http://localhost:9/'),
    );
    expect(outcome).toMatchObject({ http_status: null, error: 'target_refused' });
  });
});

test('a name with one private address is blocked', async () => {
  const resolve = async () => ['93.184.215.14', '10.0.0.1'];
  const outcome = await createTestSender({ policy: strict, resolve }).send(
    toRequest('https://mixed.example/'),
  );
  expect(outcome).toMatchObject({ error: 'address_refused' });
});

test('checkTarget says the same of every address that is not public', async () => {
  const addresses: Record<string, string[]> = {
    'inner.example': ['10.0.0.1'],
    'mixed.example': ['8.8.8.8', '::1'],
  };
  const resolve = async (name: string) => addresses[name] ?? Promise.reject(new Error('ENOTFOUND'));
  const { checkTarget } = createTestSender({ policy: strict, resolve });
  for (const host of ['10.0.0.1', '[::1]', '2130706433', 'inner.example', 'mixed.example'])
    expect([host, await checkTarget(`https://${host}/hook`)]).toEqual([host, 'This address is not public']);
  for (const host of ['8.8.8.8', 'unknown.example', 'unknown.internal'])
    expect([host, await checkTarget(`https://${host}/hook`)]).toEqual([host, undefined]);
});

test('a name is resolved once per connection, so rebinding has no effect', async () => {
  const certificate = selfSigned('receiver.invalid', inDays(-1), inDays(1));
  const receiver = await startReceiver(undefined, certificate);
  const answers = [['127.0.0.1'], ['10.0.0.1']];
  let lookups = 0;
  const resolve = async () => answers[lookups++] ?? [];
  const url = `https://receiver.invalid:${receiver.port}/`;
  expect(await createTestSender({ resolve, ca: certificate.cert }).send(toRequest(url))).toMatchObject({
    http_status: 204,
  });
  expect(lookups).toBe(1);
});

test('an unreachable address is skipped if another address works', async () => {
  const receiver = await startReceiver();
  const resolve = async () => ['::1', '127.0.0.1'];
  const outcome = await createTestSender({ resolve }).send(toRequest(`http://localhost:${receiver.port}/`));
  expect(outcome).toMatchObject({ http_status: 204 });
});

test('a name without an address fails as name_not_resolved', async () => {
  const refused = { http_status: null, error: 'name_not_resolved' };
  const nowhere = toRequest('https://nowhere.example/');
  expect(await createTestSender({ resolve: async () => [] }).send(nowhere)).toMatchObject(refused);
  const resolve = () => Promise.reject(new Error('ENOTFOUND'));
  expect(await createTestSender({ resolve }).send(nowhere)).toMatchObject(refused);
});

describe('TLS verification', () => {
  async function sendOverTls(certificate: ReturnType<typeof selfSigned>, trusted: boolean) {
    const receiver: WebhookReceiver = await startReceiver(undefined, certificate);
    const outcome = await createTestSender(trusted ? { ca: certificate.cert } : {}).send(
      toRequest(receiver.url),
    );
    return { ...outcome, arrived: receiver.received.length };
  }

  test('a trusted certificate for the host is accepted', async () => {
    const outcome = await sendOverTls(selfSigned('localhost', inDays(-1), inDays(1)), true);
    expect(outcome).toMatchObject({ http_status: 204, arrived: 1 });
  });
  test('a certificate of an unknown authority is rejected', async () => {
    const outcome = await sendOverTls(selfSigned('localhost', inDays(-1), inDays(1)), false);
    expect(outcome).toMatchObject({ error: 'depth_zero_self_signed_cert', arrived: 0 });
  });
  test('a certificate for another host is rejected', async () => {
    const outcome = await sendOverTls(selfSigned('other.example', inDays(-1), inDays(1)), true);
    expect(outcome).toMatchObject({ error: 'err_tls_cert_altname_invalid', arrived: 0 });
  });
  test('an expired certificate is rejected', async () => {
    const outcome = await sendOverTls(selfSigned('localhost', inDays(-2), inDays(-1)), true);
    expect(outcome).toMatchObject({ error: 'cert_has_expired', arrived: 0 });
  });
});

describe('checking a target', () => {
  const createStrict = (resolve: () => Promise<string[]>) => createTestSender({ policy: strict, resolve });
  test('checkTarget reports an address that is not public', async () => {
    const fault = await createStrict(async () => ['192.168.1.1']).checkTarget('https://intranet.example/');
    expect(fault).toMatch(/not public/);
    expect(await createStrict(async () => []).checkTarget('https://10.0.0.1/')).toMatch(/not public/);
  });
  test('checkTarget reports http', async () => {
    expect(await createStrict(async () => []).checkTarget('http://localhost/')).toMatch(/https/);
  });
  test('checkTarget accepts a name that does not resolve', async () => {
    const resolve = () => Promise.reject(new Error('ENOTFOUND'));
    expect(await createStrict(resolve).checkTarget('https://tomorrow.example/')).toBeUndefined();
    expect(
      await createStrict(async () => ['93.184.215.14']).checkTarget('https://example.com/'),
    ).toBeUndefined();
  });
});

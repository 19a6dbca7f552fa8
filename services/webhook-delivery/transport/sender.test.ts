/** One POST against real servers: what is sent, what is refused, and how it ends. */
import { createServer } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { selfSigned } from '../testing/certificate.ts';
import { listen, type Responder, type WebhookReceiver, webhookReceiver } from '../testing/receiver.ts';
import { createSender, type Sender } from './sender.ts';

const local = { allowLoopback: true, allowedRanges: [] };
const strict = { allowLoopback: false, allowedRanges: [] };
const day = 86_400_000;
const inDays = (days: number) => new Date(Date.now() + days * day);

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

async function receiving(answering?: Responder, tls = undefined as Parameters<typeof webhookReceiver>[1]) {
  const made = await webhookReceiver(answering, tls);
  open.push(made);
  return made;
}

function sending(partial: Partial<Parameters<typeof createSender>[0]> = {}): Sender {
  const made = createSender({
    policy: local,
    timeoutMs: 10_000,
    resolve: async () => ['127.0.0.1'],
    ...partial,
  });
  open.push(made);
  return made;
}

const shipment = { headers: { 'Content-Type': 'application/json', 'X-Mark': 'm' }, body: '{"größe":1}' };
const to = (url: string) => ({ url, ...shipment });

test('the body and the headers arrive unchanged', async () => {
  const there = await receiving();
  const outcome = await sending().send(to(there.url));
  expect(outcome).toMatchObject({ http_status: 204, error: null });
  expect(there.received).toMatchObject([{ body: shipment.body, headers: { 'x-mark': 'm' } }]);
});

describe('response statuses', () => {
  test.each([
    [200, null],
    [302, 'status_302'],
    [410, 'status_410'],
    [500, 'status_500'],
  ])('status %i is returned with its error code', async (status, error) => {
    const there = await receiving(() => status);
    expect(await sending().send(to(there.url))).toMatchObject({ http_status: status, error });
  });
});

test('a redirect is not followed', async () => {
  const inner = await receiving();
  const there = await receiving(() => ({ status: 307, headers: { location: inner.url } }));
  expect(await sending().send(to(there.url))).toMatchObject({ http_status: 307 });
  expect(inner.received).toEqual([]);
});

test('the Retry-After header is returned', async () => {
  const there = await receiving(() => ({ status: 503, headers: { 'retry-after': '120' } }));
  expect(await sending().send(to(there.url))).toMatchObject({ retry_after: '120' });
});

test('a response that is too late is a timeout without a status', async () => {
  const there = await receiving(() => new Promise(() => {}));
  const outcome = await sending({ timeoutMs: 100 }).send(to(there.url));
  expect(outcome).toMatchObject({ http_status: null, error: 'timeout' });
  expect(outcome.duration_ms).toBeLessThan(1_000);
});

test('a hanging DNS lookup ends at the request timeout', async () => {
  const outcome = await sending({ timeoutMs: 100, resolve: () => new Promise(() => {}) }).send(
    to('https://example.com/'),
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
  const port = await listen(server);
  const outcome = await sending().send(to(`http://127.0.0.1:${port}/`));
  server.close();
  expect(outcome).toMatchObject({ http_status: 200, error: null });
  expect(written).toBeLessThan(64 * 1024 * 1024);
});

test('a slow response body ends at the timeout and keeps the status', async () => {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    socket.once('data', () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nx'));
  });
  const port = await listen(server);
  const startedAt = performance.now();
  const outcome = await sending({ timeoutMs: 200 }).send(to(`http://127.0.0.1:${port}/`));
  server.close();
  expect(outcome).toMatchObject({ http_status: 200, error: null });
  expect(performance.now() - startedAt).toBeLessThan(2_000);
});

test('response headers over 16 KiB are an error', async () => {
  const there = await receiving(() => ({ status: 200, headers: { 'x-long': 'x'.repeat(20_000) } }));
  expect(await sending().send(to(there.url))).toMatchObject({
    http_status: null,
    error: expect.stringMatching(/overflow/),
  });
});

test('a refused or closed connection has its own error code', async () => {
  const there = await receiving();
  await there.close();
  open.splice(open.indexOf(there), 1);
  expect(await sending().send(to(there.url))).toMatchObject({ http_status: null, error: 'econnrefused' });
  const server = createServer((socket) => socket.once('data', () => socket.destroy()));
  const port = await listen(server);
  const outcome = await sending().send(to(`http://127.0.0.1:${port}/`));
  server.close();
  expect(outcome).toMatchObject({
    http_status: null,
    error: expect.stringMatching(/und_err_socket|econnreset/),
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
    ['a name that resolves to it', 'https://rebound.example'],
  ])('loopback is blocked as %s', async (_, origin) => {
    const certificate = selfSigned('localhost', inDays(-1), inDays(1));
    const there = await receiving(undefined, certificate);
    const strictly = sending({ policy: strict, ca: certificate.cert });
    const outcome = await strictly.send(to(`${origin}:${there.port}/`));
    expect(outcome).toMatchObject({ http_status: null, error: 'address_refused' });
    expect(there.received).toEqual([]);
  });

  test('http is rejected before the name is resolved', async () => {
    const resolve = () => Promise.reject(new Error('asked'));
    const outcome = await sending({ policy: strict, resolve }).send(to('http://localhost:9/'));
    expect(outcome).toMatchObject({ http_status: null, error: 'target_refused' });
  });
});

test('a name with one private address is blocked', async () => {
  const resolve = async () => ['93.184.215.14', '10.0.0.1'];
  const outcome = await sending({ policy: strict, resolve }).send(to('https://mixed.example/'));
  expect(outcome).toMatchObject({ error: 'address_refused' });
});

test('a name is resolved once per connection, so rebinding has no effect', async () => {
  const certificate = selfSigned('receiver.invalid', inDays(-1), inDays(1));
  const there = await receiving(undefined, certificate);
  const answers = [['127.0.0.1'], ['10.0.0.1']];
  let asked = 0;
  const resolve = async () => answers[asked++] ?? [];
  const url = `https://receiver.invalid:${there.port}/`;
  expect(await sending({ resolve, ca: certificate.cert }).send(to(url))).toMatchObject({ http_status: 204 });
  expect(asked).toBe(1);
});

test('an unreachable address is skipped if another address works', async () => {
  const there = await receiving();
  const resolve = async () => ['::1', '127.0.0.1'];
  const outcome = await sending({ resolve }).send(to(`http://localhost:${there.port}/`));
  expect(outcome).toMatchObject({ http_status: 204 });
});

test('a name without an address fails as name_not_resolved', async () => {
  const refused = { http_status: null, error: 'name_not_resolved' };
  const nowhere = to('https://nowhere.example/');
  expect(await sending({ resolve: async () => [] }).send(nowhere)).toMatchObject(refused);
  const resolve = () => Promise.reject(new Error('ENOTFOUND'));
  expect(await sending({ resolve }).send(nowhere)).toMatchObject(refused);
});

describe('TLS verification', () => {
  async function over(certificate: ReturnType<typeof selfSigned>, trusted: boolean) {
    const there: WebhookReceiver = await receiving(undefined, certificate);
    const outcome = await sending(trusted ? { ca: certificate.cert } : {}).send(to(there.url));
    return { ...outcome, arrived: there.received.length };
  }

  test('a trusted certificate for the host is accepted', async () => {
    const outcome = await over(selfSigned('localhost', inDays(-1), inDays(1)), true);
    expect(outcome).toMatchObject({ http_status: 204, arrived: 1 });
  });
  test('a certificate of an unknown authority is rejected', async () => {
    const outcome = await over(selfSigned('localhost', inDays(-1), inDays(1)), false);
    expect(outcome).toMatchObject({ error: 'depth_zero_self_signed_cert', arrived: 0 });
  });
  test('a certificate for another host is rejected', async () => {
    const outcome = await over(selfSigned('other.example', inDays(-1), inDays(1)), true);
    expect(outcome).toMatchObject({ error: 'err_tls_cert_altname_invalid', arrived: 0 });
  });
  test('an expired certificate is rejected', async () => {
    const outcome = await over(selfSigned('localhost', inDays(-2), inDays(-1)), true);
    expect(outcome).toMatchObject({ error: 'cert_has_expired', arrived: 0 });
  });
});

describe('checking a target', () => {
  const strictly = (resolve: () => Promise<string[]>) => sending({ policy: strict, resolve });
  test('checkTarget reports an address that is not public', async () => {
    const fault = await strictly(async () => ['192.168.1.1']).checkTarget('https://intranet.example/');
    expect(fault).toMatch(/not public/);
    expect(await strictly(async () => []).checkTarget('https://10.0.0.1/')).toMatch(/not public/);
  });
  test('checkTarget reports http', async () => {
    expect(await strictly(async () => []).checkTarget('http://localhost/')).toMatch(/https/);
  });
  test('checkTarget accepts a name that does not resolve', async () => {
    const resolve = () => Promise.reject(new Error('ENOTFOUND'));
    expect(await strictly(resolve).checkTarget('https://tomorrow.example/')).toBeUndefined();
    expect(await strictly(async () => ['93.184.215.14']).checkTarget('https://example.com/')).toBeUndefined();
  });
});

/** Tests requests through a real proxy: tunnels, blocked targets and proxy errors. */
import { createServer } from 'node:net';
import { afterEach, describe, expect, test } from '@jest/globals';
import { Secret } from '#libs/contract';
import { connectProxy, freePorts, listenLocally, webhookReceiver } from '#libs/testing';
import { selfSigned } from '../testing/certificate.ts';
import { createSender } from './sender.ts';

const local = { allowLoopback: true, allowedRanges: [] };
const strict = { allowLoopback: false, allowedRanges: [] };
const certificate = selfSigned(
  'receiver.example',
  new Date(Date.now() - 86_400_000),
  new Date(Date.now() + 86_400_000),
);
const message = { headers: { 'Content-Type': 'application/json' }, body: '{}' };

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const item of open.splice(0).reverse()) await item.close();
});

function closeLater<T extends { close(): Promise<void> }>(item: T): T {
  open.push(item);
  return item;
}

/** The proxy resolves names, so the sender must not. */
const resolve = () => Promise.reject(new Error('The sender resolved a name'));

function createTestSender(proxyUrl: string, partial: Partial<Parameters<typeof createSender>[0]> = {}) {
  const trust = { policy: strict, timeoutMs: 10_000, resolve, ca: certificate.cert };
  return closeLater(createSender({ ...trust, proxy: new Secret(proxyUrl), ...partial }));
}

test('a delivery opens a tunnel by host name and uses TLS to the receiver', async () => {
  const receiver = closeLater(await webhookReceiver(undefined, { tls: certificate }));
  const proxy = closeLater(await connectProxy());
  const url = `https://receiver.example:${receiver.port}/hook`;
  const { send } = createTestSender(proxy.url.replace('//', '//who:secret%21@'));
  for (let times = 0; times < 6; times += 1)
    expect(await send({ url, ...message })).toMatchObject({ http_status: 204, error: null });
  const credentials = `Basic ${Buffer.from('who:secret!').toString('base64')}`;
  expect(proxy.tunnels[0]).toEqual({ target: `receiver.example:${receiver.port}`, credentials });
  // tunnels are reused
  expect(proxy.tunnels.length).toBeLessThan(6);
  expect(receiver.received.map(({ body }) => body)).toEqual(Array(6).fill('{}'));
  expect(receiver.received[0]?.headers).not.toHaveProperty('proxy-authorization');
});

test('a certificate for another host is rejected through a proxy', async () => {
  const receiver = closeLater(await webhookReceiver(undefined, { tls: certificate }));
  const proxy = closeLater(await connectProxy());
  const outcome = await createTestSender(proxy.url).send({
    url: `https://other.example:${receiver.port}/`,
    ...message,
  });
  expect(outcome).toMatchObject({ http_status: null, error: 'err_tls_cert_altname_invalid' });
  expect(receiver.received).toEqual([]);
});

test('an http target uses a tunnel too if loopback is allowed', async () => {
  const receiver = closeLater(await webhookReceiver());
  const proxy = closeLater(await connectProxy());
  const outcome = await createTestSender(proxy.url, { policy: local }).send({
    url: receiver.url,
    ...message,
  });
  expect(outcome).toMatchObject({ http_status: 204 });
  expect(proxy.otherRequests).toEqual([]);
  expect(proxy.tunnels).toHaveLength(1);
});

describe('targets that need no name resolution', () => {
  test.each([
    'https://127.0.0.1/',
    'https://0x7f.1/',
    'https://[::1]/',
    'https://[::ffff:10.0.0.1]/',
    'https://10.0.0.1/',
    'https://169.254.169.254/',
    'https://localhost/',
    'https://hooks.localhost/',
    'https://localhost./',
  ])('the target %s is blocked before the proxy is used', async (url) => {
    const proxy = closeLater(await connectProxy());
    const { send, checkTarget } = createTestSender(proxy.url);
    expect(await send({ url, ...message })).toMatchObject({ http_status: null, error: 'address_refused' });
    expect(await checkTarget(url)).toMatch(/not public/);
    expect(proxy.tunnels).toEqual([]);
  });

  test('checkTarget accepts names without resolving them if a proxy is set', async () => {
    expect(
      await createTestSender('http://127.0.0.1:9').checkTarget('https://intranet.example/'),
    ).toBeUndefined();
  });
});

test('a rejecting proxy and an unreachable proxy cause different errors', async () => {
  const proxy = closeLater(await connectProxy({ status: 403 }));
  const url = 'https://receiver.example/';
  expect(await createTestSender(proxy.url).send({ url, ...message })).toMatchObject({
    http_status: null,
    error: 'proxy_refused',
  });
  const [unused] = await freePorts(1);
  expect(await createTestSender(`http://127.0.0.1:${unused}`).send({ url, ...message })).toMatchObject({
    http_status: null,
    error: 'econnrefused',
  });
});

test('a request through a hanging proxy ends at the timeout', async () => {
  const hanging = createServer((socket) => socket.on('error', () => undefined).resume());
  const port = await listenLocally(hanging);
  const { send } = createTestSender(`http://127.0.0.1:${port}`, { timeoutMs: 200 });
  const outcome = await send({ url: 'https://receiver.example/', ...message });
  hanging.close();
  expect(outcome).toMatchObject({ http_status: null, error: 'timeout' });
});

test('proxy environment variables are ignored', async () => {
  const receiver = closeLater(await webhookReceiver());
  const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy'];
  const before = names.map((name) => [name, process.env[name]] as const);
  for (const name of names) process.env[name] = 'http://127.0.0.1:9';
  try {
    const direct = closeLater(
      createSender({ policy: local, timeoutMs: 10_000, resolve: async () => ['127.0.0.1'] }),
    );
    expect(await direct.send({ url: receiver.url, ...message })).toMatchObject({ http_status: 204 });
  } finally {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  }
});

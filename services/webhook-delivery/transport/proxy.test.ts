/** Through a real proxy: what it is asked for, what it is never asked for, and what comes of its refusals. */
import { afterEach, describe, expect, test } from '@jest/globals';
import { Secret } from '#libs/contract';
import { connectProxy } from '#libs/testing';
import { selfSigned } from '../testing/certificate.ts';
import { webhookReceiver } from '../testing/receiver.ts';
import { createSender } from './sender.ts';

const local = { allowLoopback: true, allowedRanges: [] };
const strict = { allowLoopback: false, allowedRanges: [] };
const certificate = selfSigned(
  'receiver.example',
  new Date(Date.now() - 86_400_000),
  new Date(Date.now() + 86_400_000),
);
const shipment = { headers: { 'Content-Type': 'application/json' }, body: '{}' };

const open: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const one of open.splice(0).reverse()) await one.close();
});

function kept<T extends { close(): Promise<void> }>(one: T): T {
  open.push(one);
  return one;
}

/** Names are the proxy's affair. */
const resolve = () => Promise.reject(new Error('A name was resolved here'));

function sending(through: string, partial: Partial<Parameters<typeof createSender>[0]> = {}) {
  const trust = { policy: strict, timeoutMs: 10_000, resolve, ca: certificate.cert };
  return kept(createSender({ ...trust, proxy: new Secret(through), ...partial }));
}

test('a delivery uses a tunnel by host name, and TLS with the receiver', async () => {
  const there = kept(await webhookReceiver(undefined, certificate));
  const by = kept(await connectProxy());
  const url = `https://receiver.example:${there.port}/hook`;
  const { send } = sending(by.url.replace('//', '//who:secret%21@'));
  for (let times = 0; times < 6; times += 1)
    expect(await send({ url, ...shipment })).toMatchObject({ http_status: 204, error: null });
  const credentials = `Basic ${Buffer.from('who:secret!').toString('base64')}`;
  expect(by.tunnels[0]).toEqual({ target: `receiver.example:${there.port}`, credentials });
  // connections are kept
  expect(by.tunnels.length).toBeLessThan(6);
  expect(there.received.map(({ body }) => body)).toEqual(Array(6).fill('{}'));
  expect(there.received[0]?.headers).not.toHaveProperty('proxy-authorization');
});

test('a certificate for another host is rejected through a proxy', async () => {
  const there = kept(await webhookReceiver(undefined, certificate));
  const by = kept(await connectProxy());
  const outcome = await sending(by.url).send({ url: `https://other.example:${there.port}/`, ...shipment });
  expect(outcome).toMatchObject({ http_status: null, error: 'err_tls_cert_altname_invalid' });
  expect(there.received).toEqual([]);
});

test('an http target uses a tunnel too if loopback is allowed', async () => {
  const there = kept(await webhookReceiver());
  const by = kept(await connectProxy());
  const outcome = await sending(by.url, { policy: local }).send({ url: there.url, ...shipment });
  expect(outcome).toMatchObject({ http_status: 204 });
  expect(by.otherRequests).toEqual([]);
  expect(by.tunnels).toHaveLength(1);
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
    const by = kept(await connectProxy());
    const { send, checkTarget } = sending(by.url);
    expect(await send({ url, ...shipment })).toMatchObject({ http_status: null, error: 'address_refused' });
    expect(await checkTarget(url)).toMatch(/not public/);
    expect(by.tunnels).toEqual([]);
  });

  test('checkTarget accepts names without resolving them if a proxy is set', async () => {
    expect(await sending('http://127.0.0.1:9').checkTarget('https://intranet.example/')).toBeUndefined();
  });
});

test('a rejecting proxy and an unreachable proxy have their own errors', async () => {
  const by = kept(await connectProxy({ status: 403 }));
  const url = 'https://receiver.example/';
  expect(await sending(by.url).send({ url, ...shipment })).toMatchObject({
    http_status: null,
    error: 'proxy_refused',
  });
  const gone = await connectProxy();
  await gone.close();
  expect(await sending(gone.url).send({ url, ...shipment })).toMatchObject({
    http_status: null,
    error: 'econnrefused',
  });
});

test('a request through a hanging proxy ends at the timeout', async () => {
  const hung = kept(await webhookReceiver(() => new Promise(() => {})));
  const through = new URL(hung.url).origin;
  const { send } = sending(through, { timeoutMs: 200 });
  const outcome = await send({ url: 'https://receiver.example/', ...shipment });
  expect(outcome).toMatchObject({ http_status: null });
  expect(outcome.duration_ms).toBeLessThan(5_000);
});

test('proxy environment variables are ignored', async () => {
  const there = kept(await webhookReceiver());
  const names = ['HTTP_PROXY', 'HTTPS_PROXY', 'ALL_PROXY', 'http_proxy', 'https_proxy'];
  const before = names.map((name) => [name, process.env[name]] as const);
  for (const name of names) process.env[name] = 'http://127.0.0.1:9';
  try {
    const direct = kept(
      createSender({ policy: local, timeoutMs: 10_000, resolve: async () => ['127.0.0.1'] }),
    );
    expect(await direct.send({ url: there.url, ...shipment })).toMatchObject({ http_status: 204 });
  } finally {
    for (const [name, value] of before) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  }
});

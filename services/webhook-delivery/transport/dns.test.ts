/** Tests name resolution with a real DNS server over UDP, and the fallback to the operating system. */
import { Resolver } from 'node:dns/promises';
import { afterEach, expect, test } from '@jest/globals';
import { slowness } from '#libs/testing';
import { type DnsAnswer, type NameServer, startNameServer } from '../testing/dns-server.ts';
import { createResolver, type SystemLookup } from './dns.ts';

const open: NameServer[] = [];
afterEach(async () => {
  for (const server of open.splice(0)) await server.close();
});

const failingLookup: SystemLookup = async (hostname) => {
  throw new Error(`${hostname} is not known`);
};

/** Long enough for an answer on a busy machine, ms. */
const queryMs = 3_000 * slowness;

async function createTestResolver(getAnswer: (name: string) => DnsAnswer, system = failingLookup) {
  const server = await startNameServer(getAnswer);
  open.push(server);
  const servers = new Resolver({ timeout: queryMs, tries: 1 });
  servers.setServers([server.address]);
  return { resolve: createResolver({ servers, system }), queries: server.queries };
}

test('a name resolves to its IPv4 and IPv6 addresses', async () => {
  const { resolve } = await createTestResolver(() => ['192.0.2.7', '2001:db8:0:0:0:0:0:7']);
  expect(await resolve('receiver.example')).toEqual(['192.0.2.7', '2001:db8::7']);
});

test('a name with only IPv6 addresses resolves', async () => {
  const { resolve } = await createTestResolver(() => ['2001:db8:0:0:0:0:0:7']);
  expect(await resolve('receiver.example')).toEqual(['2001:db8::7']);
});

test('100 names without a response do not delay another name', async () => {
  const { resolve, queries } = await createTestResolver((name) =>
    name.startsWith('silent') ? 'silence' : ['192.0.2.7'],
  );
  const pending = Array.from({ length: 100 }, (_, at) => resolve(`silent${at}.example`));
  const ended: string[] = [];
  const settled = Promise.allSettled(pending.map((lookup) => lookup.finally(() => ended.push('pending'))));
  await resolve('receiver.example').then(() => ended.push('found'));
  expect(ended).toEqual(['found']);
  expect((await settled).every(({ status }) => status === 'rejected')).toBe(true);
  expect(new Set(queries).size).toBe(101);
});

test('unknown names are looked up with the system, one at a time', async () => {
  let maxOpen = 0;
  let open = 0;
  const hosts: SystemLookup = async (hostname) => {
    open += 1;
    maxOpen = Math.max(maxOpen, open);
    await new Promise((done) => setImmediate(done));
    open -= 1;
    if (hostname === 'printer') return ['192.0.2.9'];
    throw new Error('ENOTFOUND');
  };
  const { resolve } = await createTestResolver(() => 'nothing', hosts);
  const all = await Promise.allSettled(['nobody', 'printer', 'nowhere', 'printer'].map(resolve));
  expect(all).toMatchObject([
    { status: 'rejected' },
    { status: 'fulfilled', value: ['192.0.2.9'] },
    { status: 'rejected' },
    { status: 'fulfilled', value: ['192.0.2.9'] },
  ]);
  expect(maxOpen).toBe(1);
});

test('localhost always resolves to loopback without a query', async () => {
  const { resolve, queries } = await createTestResolver(() => ['192.0.2.7']);
  for (const name of ['localhost', 'LOCALHOST', 'hooks.localhost', 'localhost.'])
    expect(await resolve(name)).toEqual(['127.0.0.1', '::1']);
  expect(queries).toEqual([]);
});

/** Names are resolved by a real name server over UDP, and what it does not know by the system. */
import { Resolver } from 'node:dns/promises';
import { afterEach, expect, test } from '@jest/globals';
import { type DnsAnswer, type NameServer, startNameServer } from '../testing/dns-server.ts';
import { createResolver, type SystemLookup } from './dns.ts';

const open: NameServer[] = [];
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

const unknown: SystemLookup = async (hostname) => {
  throw new Error(`${hostname} is not known`);
};

async function resolver(saying: (name: string) => DnsAnswer, system = unknown) {
  const there = await startNameServer(saying);
  open.push(there);
  const servers = new Resolver({ timeout: 200, tries: 1 });
  servers.setServers([there.address]);
  return { resolve: createResolver({ servers, system }), asked: there.queries };
}

test('a name resolves to its IPv4 and IPv6 addresses', async () => {
  const { resolve } = await resolver(() => ['192.0.2.7', '2001:db8:0:0:0:0:0:7']);
  expect(await resolve('receiver.example')).toEqual(['192.0.2.7', '2001:db8::7']);
});

test('a name with only IPv6 addresses resolves', async () => {
  const { resolve } = await resolver(() => ['2001:db8:0:0:0:0:0:7']);
  expect(await resolve('receiver.example')).toEqual(['2001:db8::7']);
});

test('100 names without a response do not delay another name', async () => {
  const { resolve, asked } = await resolver((name) => (name.startsWith('hung') ? 'silence' : ['192.0.2.7']));
  const hung = Array.from({ length: 100 }, (_, at) => resolve(`hung${at}.example`));
  const ended: string[] = [];
  const watched = Promise.allSettled(hung.map((one) => one.finally(() => ended.push('hung'))));
  await resolve('receiver.example').then(() => ended.push('found'));
  expect(ended).toEqual(['found']);
  expect((await watched).every(({ status }) => status === 'rejected')).toBe(true);
  expect(new Set(asked).size).toBe(101);
});

test('unknown names are looked up with the system, one at a time', async () => {
  let most = 0;
  let open = 0;
  const hosts: SystemLookup = async (hostname) => {
    open += 1;
    most = Math.max(most, open);
    await new Promise((done) => setImmediate(done));
    open -= 1;
    if (hostname === 'printer') return ['192.0.2.9'];
    throw new Error('ENOTFOUND');
  };
  const { resolve } = await resolver(() => 'nothing', hosts);
  const all = await Promise.allSettled(['nobody', 'printer', 'nowhere', 'printer'].map(resolve));
  expect(all).toMatchObject([
    { status: 'rejected' },
    { status: 'fulfilled', value: ['192.0.2.9'] },
    { status: 'rejected' },
    { status: 'fulfilled', value: ['192.0.2.9'] },
  ]);
  expect(most).toBe(1);
});

test('localhost always resolves to loopback without a query', async () => {
  const { resolve, asked } = await resolver(() => ['192.0.2.7']);
  for (const name of ['localhost', 'LOCALHOST', 'hooks.localhost', 'localhost.'])
    expect(await resolve(name)).toEqual(['127.0.0.1', '::1']);
  expect(asked).toEqual([]);
});

/** Bad weather between us and MongoDB, and between us and RabbitMQ: late, reset, chopped and narrow connections lose nothing. */
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import {
  type MongoServers,
  ownMongo,
  type TcpProxy,
  type TestRabbit,
  type Toxics,
  tcpProxy,
  testRabbit,
  until,
} from '#libs/testing';
import { type System, startSystem } from '../system.ts';
import {
  createTenant,
  findViolations,
  type RecordingReceiver,
  startPublishing,
  startReceiver,
  type TestTenant,
  waitUntilSettled,
} from '../tenants.ts';

let mongo: MongoServers;
let rabbit: TestRabbit;
let proxies: Record<'MongoDB' | 'RabbitMQ', TcpProxy>;
let running: System;
let receiver: RecordingReceiver;
let tenant: TestTenant;

beforeAll(async () => {
  mongo = await ownMongo();
  rabbit = await testRabbit();
  const direct = `${mongo.uri.split('?')[0]}?directConnection=true`;
  proxies = { MongoDB: await tcpProxy(direct), RabbitMQ: await tcpProxy(rabbit.url) };
  const through = { mongo: mongo.uri, mongoOfServices: proxies.MongoDB.url, rabbit: proxies.RabbitMQ.url };
  running = await startSystem({ ...through, replicas: 2 });
}, 400_000);
beforeEach(async () => {
  receiver = await startReceiver();
  tenant = await createTenant(running, [receiver.getUrl('a'), receiver.getUrl('b')]);
});
afterEach(async () => {
  for (const proxy of Object.values(proxies ?? {})) proxy.setToxics({});
  await receiver?.close();
});
afterAll(async () => {
  await running?.stop();
  for (const proxy of Object.values(proxies ?? {})) await proxy.close();
  await rabbit?.stop();
  await mongo?.stop();
}, 60_000);

const toxics: [string, Toxics][] = [
  ['2 s late', { latencyMs: 1_000 }],
  ['in pieces of 7 bytes', { sliceBytes: 7 }],
  ['through 20 KB a second', { bytesPerSecond: 20_000 }],
];
const serverNames = ['MongoDB', 'RabbitMQ'] as const;
/** The weather lasts so long under load; what is under way then ends when it ends. */
const faultMs = 15_000;

test.each(serverNames.flatMap((server) => toxics.map(([name, toxic]) => [server, name, toxic] as const)))(
  'F12: %s %s: nothing is lost, nothing sent twice',
  async (server, _, toxic) => {
    const load = startPublishing(running, tenant, 5);
    await until('work under way', async () => receiver.posts.length > 10, 60_000);
    proxies[server].setToxics(toxic);
    // the weather itself
    await pause(faultMs);
    proxies[server].setToxics({});
    const errors = await load.stop();
    expect(errors.filter((one) => !one.includes(': 503 '))).toEqual([]);
    if (server === 'RabbitMQ') expect(errors).toEqual([]);
    await waitUntilSettled(running, [tenant], 90_000);
    expect(await findViolations(running, [tenant], receiver)).toEqual([]);
  },
  200_000,
);

test.each(serverNames)(
  'F12: connections to %s that are reset again and again lose nothing',
  async (server) => {
    const load = startPublishing(running, tenant, 5);
    await until('work under way', async () => receiver.posts.length > 10, 60_000);
    const from = Date.now();
    for (let times = 0; times < 10; times += 1) {
      proxies[server].reset();
      await pause(1_000);
    }
    const outages = server === 'MongoDB' ? [{ from, until: Date.now() }] : [];
    const errors = await load.stop();
    expect(errors.filter((one) => !one.includes(': 503 '))).toEqual([]);
    if (server === 'RabbitMQ') expect(errors).toEqual([]);
    await waitUntilSettled(running, [tenant], 90_000);
    expect(await findViolations(running, [tenant], receiver, { outages })).toEqual([]);
  },
  200_000,
);

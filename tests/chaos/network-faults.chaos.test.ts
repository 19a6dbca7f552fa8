/** F12: latency, small packets, low bandwidth and resets between the services and MongoDB or RabbitMQ lose no event. */
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import {
  type MongoReplicaSet,
  ownMongo,
  type TcpProxy,
  type TestRabbit,
  type Toxics,
  tcpProxy,
  testRabbit,
  until,
  type WebhookReceiver,
  webhookReceiver,
} from '#libs/testing';
import { type System, startSystem } from './system.ts';
import { createTenant, startPublishing, stopLoads, type TestTenant } from './tenants.ts';
import { findViolations, waitUntilSettled } from './violations.ts';

let mongo: MongoReplicaSet;
let rabbit: TestRabbit;
let proxies: Record<'MongoDB' | 'RabbitMQ', TcpProxy>;
let running: System;
let receiver: WebhookReceiver;
let tenant: TestTenant;

beforeAll(async () => {
  mongo = await ownMongo();
  rabbit = await testRabbit();
  const direct = `${mongo.uri.split('?')[0]}?directConnection=true`;
  proxies = { MongoDB: await tcpProxy(direct), RabbitMQ: await tcpProxy(rabbit.url) };
  const through = { mongo: mongo.uri, serviceMongo: proxies.MongoDB.url, rabbit: proxies.RabbitMQ.url };
  running = await startSystem({ ...through, replicas: 2 });
}, 400_000);
beforeEach(async () => {
  receiver = await webhookReceiver();
  tenant = await createTenant(running, [receiver.urlFor('a'), receiver.urlFor('b')]);
});
afterEach(async () => {
  for (const proxy of Object.values(proxies ?? {})) proxy.setToxics({});
  await stopLoads();
  await receiver?.close();
});
afterAll(async () => {
  await running?.stop();
  for (const proxy of Object.values(proxies ?? {})) await proxy.close();
  await rabbit?.stop();
  await mongo?.stop();
});

const toxics: [string, Toxics][] = [
  ['with 2 s latency', { latencyMs: 1_000 }],
  ['in packets of 7 bytes', { sliceBytes: 7 }],
  ['at 20 KB/s', { bytesPerSecond: 20_000 }],
];
const serverNames = ['MongoDB', 'RabbitMQ'] as const;
/** Duration of a fault under load. */
const faultMs = 15_000;

test.each(serverNames.flatMap((server) => toxics.map(([name, toxic]) => [server, name, toxic] as const)))(
  'F12: a connection to %s %s loses and repeats no event',
  async (server, _, toxic) => {
    const load = startPublishing(running, tenant, 5);
    await until('ten deliveries', async () => receiver.received.length > 10);
    proxies[server].setToxics(toxic);
    // the duration of the fault
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
  'F12: repeated resets of connections to %s lose no event',
  async (server) => {
    const load = startPublishing(running, tenant, 5);
    await until('ten deliveries', async () => receiver.received.length > 10);
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

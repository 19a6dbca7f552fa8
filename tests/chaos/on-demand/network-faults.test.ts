/** Bad weather between us and MongoDB, and between us and RabbitMQ: late, reset, chopped and narrow connections lose nothing. */
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
} from '#libs/testing';
import { type System, system } from '../system.ts';
import {
  brokenPromises,
  type Mailbox,
  mailbox,
  type Office,
  openOffice,
  publishing,
  settled,
} from '../tenants.ts';

let mongo: MongoReplicaSet;
let rabbit: TestRabbit;
let wires: Record<'MongoDB' | 'RabbitMQ', TcpProxy>;
let running: System;
let mail: Mailbox;
let office: Office;

beforeAll(async () => {
  mongo = await ownMongo();
  rabbit = await testRabbit();
  const direct = `${mongo.uri.split('?')[0]}?directConnection=true`;
  wires = { MongoDB: await tcpProxy(direct), RabbitMQ: await tcpProxy(rabbit.url) };
  const through = { mongo: mongo.uri, mongoOfServices: wires.MongoDB.url, rabbit: wires.RabbitMQ.url };
  running = await system({ ...through, replicas: 2 });
}, 400_000);
beforeEach(async () => {
  mail = await mailbox();
  office = await openOffice(running, [mail.urlOf('a'), mail.urlOf('b')]);
});
afterEach(async () => {
  for (const wire of Object.values(wires ?? {})) wire.setToxics({});
  await mail?.close();
});
afterAll(async () => {
  await running?.stop();
  for (const wire of Object.values(wires ?? {})) await wire.close();
  await rabbit?.stop();
  await mongo?.stop();
}, 60_000);

const weathers: [string, Toxics][] = [
  ['2 s late', { latencyMs: 1_000 }],
  ['in pieces of 7 bytes', { sliceBytes: 7 }],
  ['through 20 KB a second', { bytesPerSecond: 20_000 }],
];
const where = ['MongoDB', 'RabbitMQ'] as const;
/** The weather lasts so long under load; what is under way then ends when it ends. */
const lastsMs = 15_000;

test.each(where.flatMap((server) => weathers.map(([name, weather]) => [server, name, weather] as const)))(
  'F12: %s %s: nothing is lost, nothing sent twice',
  async (server, _, weather) => {
    const load = publishing(running, office, 5);
    await until('work under way', async () => mail.posts.length > 10, 60_000);
    wires[server].setToxics(weather);
    // the weather itself
    await pause(lastsMs);
    wires[server].setToxics({});
    const refusals = await load.end();
    expect(refusals.filter((one) => !one.includes(': 503 '))).toEqual([]);
    if (server === 'RabbitMQ') expect(refusals).toEqual([]);
    await settled(running, [office], 90_000);
    expect(await brokenPromises(running, [office], mail)).toEqual([]);
  },
  200_000,
);

test.each(where)(
  'F12: connections to %s that are reset again and again lose nothing',
  async (server) => {
    const load = publishing(running, office, 5);
    await until('work under way', async () => mail.posts.length > 10, 60_000);
    const from = Date.now();
    for (let times = 0; times < 10; times += 1) {
      wires[server].reset();
      await pause(1_000);
    }
    const outages = server === 'MongoDB' ? [{ from, until: Date.now() }] : [];
    const refusals = await load.end();
    expect(refusals.filter((one) => !one.includes(': 503 '))).toEqual([]);
    if (server === 'RabbitMQ') expect(refusals).toEqual([]);
    await settled(running, [office], 90_000);
    expect(await brokenPromises(running, [office], mail, { outages })).toEqual([]);
  },
  200_000,
);

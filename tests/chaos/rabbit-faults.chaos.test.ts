/** F3, F4, F6 and F7: RabbitMQ is killed, comes back empty, is out of memory, or loses its exchange and bindings. */
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { connect } from 'amqplib';
import {
  ownMongo,
  ownRabbit,
  type RabbitBroker,
  readMetric,
  until,
  type WebhookReceiver,
  webhookReceiver,
} from '#libs/testing';
import { prefixedNames } from '../../libs/events/amqp/topology-setup.ts';
import { contracts } from '../../services/contracts.ts';
import { insertPublishedDocuments } from './published-documents.ts';
import { type System, startSystem } from './system.ts';
import { createTenant, startPublishing, stopLoads, type TestTenant } from './tenants.ts';
import { findViolations, waitUntilSettled } from './violations.ts';

let mongo: Awaited<ReturnType<typeof ownMongo>>;
let rabbit: RabbitBroker;
let running: System;
let receiver: WebhookReceiver;
let tenant: TestTenant;

beforeAll(async () => {
  mongo = await ownMongo();
  rabbit = await ownRabbit();
  running = await startSystem({ mongo: mongo.uri, rabbit: rabbit.url, replicas: 2 });
}, 400_000);
beforeEach(async () => {
  receiver = await webhookReceiver();
  tenant = await createTenant(running, [receiver.urlFor('a'), receiver.urlFor('b')]);
});
afterEach(async () => {
  await stopLoads();
  await receiver?.close();
});
afterAll(async () => {
  await running?.stop();
  await rabbit?.stop();
  await mongo?.stop();
});

/** Waits for more POSTs. Returns the time it took, ms. */
async function waitForPosts(more = 10): Promise<number> {
  const [since, seen] = [performance.now(), receiver.received.length];
  await until('more POSTs', async () => receiver.received.length >= seen + more);
  return performance.now() - since;
}

/** Expects that no request failed, every event was delivered once, and there are no dead letters. */
async function expectNothingLost(load: { stop(): Promise<string[]> }): Promise<void> {
  expect(await load.stop()).toEqual([]);
  await waitUntilSettled(running, [tenant], 90_000);
  expect(await findViolations(running, [tenant], receiver)).toEqual([]);
  expect(receiver.received).toHaveLength(2 * tenant.published.length);
  expect(await countDeadLetters()).toEqual({});
}

test('F3: RabbitMQ is down for 12 s without lost requests or events', async () => {
  const load = startPublishing(running, tenant, 20);
  await waitForPosts(40);
  await rabbit.settle();
  await rabbit.kill();
  // the downtime is part of the fault
  await pause(12_000);
  await rabbit.start();
  const tookMs = await waitForPosts(); // the goal is 5 s
  process.stderr.write(`F3: deliveries resumed ${Math.round(tookMs)} ms after RabbitMQ was up\n`);
  await expectNothingLost(load);
}, 240_000);

test('F4: an empty RabbitMQ is declared again and gets recent events again', async () => {
  const load = startPublishing(running, tenant, 20);
  await waitForPosts(40);
  await rabbit.start({ empty: true });
  await waitForPosts();
  await expectNothingLost(load);
  const names = prefixedNames(running.prefix);
  const consumers = contracts.filter(({ consumes }) => consumes.length > 0).map(({ name }) => name);
  // rejects if the exchange or a queue is missing
  await withChannel(async (channel) => {
    await channel.checkExchange(names.exchange);
    for (const name of consumers) await channel.checkQueue(names.queue(name));
  });
  expect(running.processes.some((one) => one.printed().includes('publishing recent events again'))).toBe(
    true,
  );
}, 240_000);

test('F6: events wait in the outbox while RabbitMQ is out of memory', async () => {
  const writer = running.processes.find(({ name }) => name === 'documents');
  const load = startPublishing(running, tenant, 20);
  await waitForPosts(100);
  await rabbit.ctl('set_vm_memory_high_watermark', '0.0000001');
  try {
    await until(
      'pending events',
      async () => (await readMetric(`${writer?.management}`, 'outbox_pending_events')) > 20,
    );
    const before = await readMetric(`${writer?.management}`, 'process_memory_rss_bytes');
    await insertPendingEvents(120);
    // long enough for many attempts of the sweep
    await pause(10_000);
    const exceeds = (name: string, limit: number) => async () => {
      // a busy process leaves out a gauge that takes too long
      const value = await readMetric(`${writer?.management}`, name);
      return value > limit && value;
    };
    const pending = await until('pending events', exceeds('outbox_pending_events', 1_500));
    await until('an old event', exceeds('outbox_oldest_seconds', 5));
    const grownMB =
      ((await readMetric(`${writer?.management}`, 'process_memory_rss_bytes')) - before) / 1024 / 1024;
    process.stderr.write(`F6: ${pending} pending events, the process grew by ${Math.round(grownMB)} MB\n`);
    expect(grownMB).toBeLessThan(60);
  } finally {
    await rabbit.ctl('set_vm_memory_high_watermark', '0.4');
  }
  await waitForPosts();
  await expectNothingLost(load);
}, 240_000);

/** Inserts 1,500 published documents whose events have long titles and are pending. */
async function insertPendingEvents(megabytes: number): Promise<void> {
  const { key } = await createTenant(running, []);
  const title = 'x'.repeat((megabytes * 1024 * 1024) / 1_500);
  for (let count = 0; count < 1_500; count += 100) {
    const at = new Date();
    const outbox = { pending: true, lease_until: at } as const;
    await insertPublishedDocuments(running, key, { count: 100, at, title, outbox });
  }
}

test('F7: a deleted exchange or binding is repaired without lost events', async () => {
  const names = prefixedNames(running.prefix);
  const load = startPublishing(running, tenant, 20);
  await waitForPosts(40);
  const unbind = () =>
    withChannel((channel) => channel.unbindExchange(names.queueExchange, names.exchange, '#'));
  const countFailures = () =>
    running.processes.flatMap((one) => one.printed().match(/Could not publish/g) ?? []).length;
  for (const exchange of [names.exchange, names.queueExchange]) {
    await withChannel((channel) => channel.deleteExchange(exchange));
    await waitForPosts();
    const before = countFailures();
    // a process that declares an exchange again binds the queues, too
    await until('an event that no queue takes', async () => {
      await unbind();
      return countFailures() > before;
    });
    await waitForPosts();
  }
  await expectNothingLost(load);
}, 240_000);

/** The number of dead letters of each queue that has any. */
async function countDeadLetters(): Promise<Record<string, number>> {
  const names = prefixedNames(running.prefix);
  return withChannel(async (channel) => {
    const found: Record<string, number> = {};
    for (const { name, consumes } of contracts) {
      if (consumes.length === 0) continue;
      const { messageCount } = await channel.checkQueue(names.dead(name));
      if (messageCount > 0) found[name] = messageCount;
    }
    return found;
  });
}

type Channel = Awaited<ReturnType<Awaited<ReturnType<typeof connect>>['createChannel']>>;

async function withChannel<R>(work: (channel: Channel) => Promise<R>): Promise<R> {
  const connection = await connect(rabbit.url);
  // `work` may close the channel
  connection.on('error', () => {});
  try {
    const channel = await connection.createChannel();
    channel.on('error', () => {});
    return await work(channel);
  } finally {
    await connection.close();
  }
}

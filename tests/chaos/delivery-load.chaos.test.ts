/** Load tests of webhook delivery, faults F17, F18 and F22 of the list of faults. */
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import {
  type MongoReplicaSet,
  ownMongo,
  type ReceivedRequest,
  readMetric,
  type TestRabbit,
  tcpProxy,
  testRabbit,
  until,
  type WebhookReceiver,
  webhookReceiver,
} from '#libs/testing';
import { toBody } from '../../services/webhook-delivery/rules/message.ts';
import { createDelivery, toEventRow } from '../../services/webhook-delivery/store/new-deliveries.ts';
import { insertPublishedDocuments } from './published-documents.ts';
import { type System, startSystem } from './system.ts';
import { createTenant, publish, startPublishing, stopLoads, type TestTenant } from './tenants.ts';
import { findViolations, waitUntilSettled } from './violations.ts';

let mongo: MongoReplicaSet;
let rabbit: TestRabbit;
let receiver: WebhookReceiver;
let running: System | undefined;

beforeAll(async () => {
  mongo = await ownMongo();
  rabbit = await testRabbit();
}, 400_000);
beforeEach(async () => {
  receiver = await webhookReceiver();
});
afterEach(async () => {
  await stopLoads();
  receiver?.respondWith();
  await running?.stop();
  running = undefined;
  await receiver?.close();
});
afterAll(async () => {
  await rabbit?.stop();
  await mongo?.stop();
});

const start = (settings: Record<string, string>) =>
  startSystem({ mongo: mongo.uri, rabbit: rabbit.url, replicas: 2, settings });

/** Returns the times from the commit of an event to its first attempt at the matching webhooks, ms, ascending. */
async function latencies({ db }: System, isMeant: (webhook: string) => boolean): Promise<number[]> {
  const rows = await db.collection('documents_outbox').find({ type: 'document.published' }).toArray();
  const events = new Map(rows.map(({ _id, created_at }) => [String(_id), created_at.getTime() as number]));
  return receiver.received
    .filter(({ path, headers }) => isMeant(path.slice(1)) && headers['x-service-attempt'] === '1')
    .map(({ headers, at }) => at - (events.get(String(headers['webhook-id'])) ?? 0))
    .sort((a, b) => a - b);
}

const percentile = (sorted: readonly number[], share: number) =>
  sorted[Math.floor(share * (sorted.length - 1))] ?? 0;

/** Prints p50, p95 and p99. The goals are 1 s for p95 and 2 s for p99; `npm run bench` measures them. */
function printLatencies(label: string, sorted: readonly number[]): void {
  const [p50, p95, p99] = [0.5, 0.95, 0.99].map((share) => percentile(sorted, share));
  process.stderr.write(
    `${label}: ${sorted.length} first attempts, p50 ${p50} ms, p95 ${p95} ms, p99 ${p99} ms\n`,
  );
}

test('F17: 500 events for a hanging endpoint do not delay a healthy one', async () => {
  // a request to the hanging endpoint does not end, so a delivery that waits for it fails this test
  running = await start({ WEBHOOK_TIMEOUT_SECONDS: '3600' });
  const [hanging, healthy] = [
    await createTenant(running, [receiver.urlFor('hanging')]),
    await createTenant(running, [receiver.urlFor('healthy')]),
  ];
  const { promise: released, resolve: release } = Promise.withResolvers<number>();
  receiver.respondWith(({ path }) => (path === '/hanging' ? released : 204));
  try {
    for (let sent = 0; sent < 500; sent += 20)
      await Promise.all(Array.from({ length: 20 }, () => publish(running as System, hanging)));
    const load = startPublishing(running, healthy, 20);
    await until('500 healthy events', async () => healthy.published.length >= 500, 120_000);
    expect(await load.stop()).toEqual([]);
    await until('all healthy deliveries', async () => {
      const delivered = receiver.requestsTo('healthy').length;
      return delivered >= healthy.published.length;
    });
    printLatencies('F17', await latencies(running, (webhook) => webhook === 'healthy'));
    // four requests of each replica
    await until('eight hanging requests', async () => receiver.requestsTo('hanging').length >= 8);
    expect(receiver.requestsTo('hanging')).toHaveLength(8);
  } finally {
    release(204);
  }
  await waitUntilSettled(running, [hanging, healthy], 60_000);
  expect(await findViolations(running, [hanging, healthy], receiver)).toEqual([]);
}, 240_000);

test('F18: 200 endpoints that are down delay no others; retries are spread', async () => {
  running = await start({ WEBHOOK_RETRY_SCHEDULE_SECONDS: '10,20' });
  const active = running;
  const proxy = await tcpProxy(receiver.urlFor(''));
  const dead = `http://127.0.0.1:${new URL(proxy.url).port}`;
  try {
    const tenants: TestTenant[] = [];
    for (let count = 0; count < 4; count += 1) {
      const names = Array.from({ length: 50 }, (_, at) => `down-${count}-${at}`);
      // in the outage the proxy closes the connections of one half, and the other half responds with 503
      const urls = names.map((name, at) => (at % 2 === 0 ? `${dead}/${name}` : receiver.urlFor(name)));
      tenants.push(await createTenant(active, urls));
    }
    const healthy = await createTenant(active, [receiver.urlFor('healthy')]);
    proxy.cutAfter(Buffer.from('POST'), Number.POSITIVE_INFINITY);
    receiver.respondWith(({ path }) => (path === '/healthy' ? 204 : 503));
    const loads = [
      startPublishing(active, healthy, 5),
      ...tenants.map((tenant) => startPublishing(active, tenant, 0.5)),
    ];
    // the duration of the fault
    await pause(20_000);
    const delaysMs = await until('100 retries that wait', async () => {
      const found = await readRetryDelays(active);
      return found.length >= 100 && found;
    });
    for (const load of loads) expect(await load.stop()).toEqual([]);
    // the first attempts are sent while the endpoints are down
    const isFirst = ({ headers }: ReceivedRequest) => headers['x-service-attempt'] === '1';
    const areSent = ({ published }: TestTenant, webhooks: readonly string[]) =>
      webhooks.every((one) => receiver.requestsTo(one).filter(isFirst).length >= published.length);
    await until('all first attempts', async () => {
      const odd = (count: number) => Array.from({ length: 25 }, (_, at) => `down-${count}-${2 * at + 1}`);
      const areAllSent = tenants.every((tenant, count) => areSent(tenant, odd(count)));
      return areAllSent && areSent(healthy, ['healthy']);
    });
    proxy.cutAfter(Buffer.from('POST'), 0);
    receiver.respondWith();
    await waitUntilSettled(active, [...tenants, healthy], 600_000);
    expect(await findViolations(active, [...tenants, healthy], receiver)).toEqual([]);
    printLatencies('F18 healthy', await latencies(active, (webhook) => webhook === 'healthy'));
    printLatencies('F18 down', await latencies(active, (webhook) => Number(webhook.split('-')[2]) % 2 === 1));
    const spreadMs = percentile(delaysMs, 0.9) - percentile(delaysMs, 0.1);
    // the jitter is 20 % of ten seconds
    expect(delaysMs[0]).toBeGreaterThanOrEqual(10_000);
    expect(delaysMs.at(-1)).toBeLessThanOrEqual(12_000);
    expect(spreadMs).toBeGreaterThan(1_000);
  } finally {
    await proxy.close();
  }
}, 800_000);

/** The stored delays of second attempts that wait after a 503, ms, ascending. */
async function readRetryDelays({ db }: System): Promise<number[]> {
  const waiting = { status: 'pending', attempts: 1, error: 'status_503', lock_token: { $exists: false } };
  const rows = await db.collection('webhook_deliveries').find(waiting).toArray();
  return rows.map(({ due_at, updated_at }) => due_at - updated_at).sort((a, b) => a - b);
}

test('F22: 50,000 due deliveries are all delivered with bounded memory', async () => {
  // as in a container of 512 MB (docs/deployment.md); otherwise Node collects garbage late on a large machine
  const container = { MALLOC_ARENA_MAX: '2', MALLOC_TRIM_THRESHOLD_: '131072' };
  running = await start({ ...container, NODE_OPTIONS: '--max-old-space-size=256' });
  const active = running;
  const tenants: TestTenant[] = [];
  for (let count = 0; count < 4; count += 1)
    tenants.push(
      await createTenant(
        active,
        Array.from({ length: 50 }, (_, at) => receiver.urlFor(`due-${count}-${at}`)),
      ),
    );
  const total = await insertDueDeliveries(active, tenants, 250);
  const memory = async () => {
    const all = await Promise.all(
      active.deliverers.map((one) => readMetric(one.management, 'process_memory_rss_bytes')),
    );
    return Math.max(...all) / 1024 / 1024;
  };
  await until('a tenth of the deliveries', async () => receiver.received.length > total / 10, 120_000);
  const before = await memory();
  let most = before;
  await until(
    'all deliveries',
    async () => {
      most = Math.max(most, await memory());
      await pause(500);
      return receiver.received.length >= total;
    },
    600_000,
  );
  await waitUntilSettled(active, tenants, 60_000);
  const shown = { entries: 'from the database' } as const;
  expect(await findViolations(active, tenants, receiver, shown)).toEqual([]);
  const { rate, peak } = computeRates(receiver.received.map(({ at }) => at));
  process.stderr.write(
    `F22: ${total} deliveries at ${Math.round(rate)}/s, at most ${Math.round(peak)}/s (${Math.round((100 * rate) / peak)} %), memory ${Math.round(before)} → ${Math.round(most)} MB\n`,
  );
  expect(most - before).toBeLessThan(100);
}, 900_000);

/**
 * Deliveries per second: `rate` of the middle 90 %, and `peak` of the best 5 s. The goal is a rate of 80 % of the peak;
 * `npm run bench` measures it.
 */
function computeRates(times: readonly number[]): { rate: number; peak: number } {
  const sorted = [...times].sort((a, b) => a - b);
  const [first, last] = [Math.floor(sorted.length * 0.05), Math.floor(sorted.length * 0.95)];
  const seconds = ((sorted[last] ?? 0) - (sorted[first] ?? 0)) / 1_000;
  const perSlot = Map.groupBy(sorted, (at) => Math.floor(at / 5_000));
  const peak = Math.max(...[...perSlot.values()].map((slot) => slot.length / 5));
  return { rate: (last - first) / seconds, peak };
}

/** Inserts due deliveries as after an outage, `events` per organization. Returns the number of deliveries. */
async function insertDueDeliveries(
  system: System,
  tenants: readonly TestTenant[],
  events: number,
): Promise<number> {
  const getCollection = (name: string) => system.db.collection<{ _id: string }>(name);
  let total = 0;
  for (const tenant of tenants) {
    const { organizationId: organization_id } = tenant;
    const recipient_ids = tenant.hooks.map(({ id }) => id);
    for (let offset = 0; offset < events; offset += 50) {
      const at = new Date();
      const published = await insertPublishedDocuments(system, tenant.key, {
        ...{ count: 50, at },
        outbox: { published_at: at },
      });
      const rows = published.flatMap(({ id, type, data }) => {
        const event = { event_id: id, event_type: type, document_id: data.document.id, organization_id };
        return recipient_ids.map((id) => ({ ...createDelivery(event, id, at), is_first: true }));
      });
      await getCollection('webhook_events').insertMany(
        published.map((event) => {
          const about = { event_id: event.id, event_type: event.type, document_id: event.data.document.id };
          const row = { ...about, organization_id, body: toBody(event), occurred_at: at };
          return { ...toEventRow(row, at), recipient_ids };
        }),
      );
      await getCollection('webhook_deliveries').insertMany(rows);
      total += rows.length;
    }
  }
  return total;
}

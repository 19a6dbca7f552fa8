/** Crowds: a hanging endpoint beside a healthy one, two hundred that are down, and fifty thousand deliveries that are due at once. */
import { setTimeout as pause } from 'node:timers/promises';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import { type MongoReplicaSet, ownMongo, type TestRabbit, tcpProxy, testRabbit, until } from '#libs/testing';
import { toShard } from '../../../services/webhook-delivery/rules/fair-scheduler.ts';
import { toBody } from '../../../services/webhook-delivery/rules/message.ts';
import { metric, type System, system } from '../system.ts';
import {
  brokenPromises,
  type Mailbox,
  mailbox,
  type Office,
  openOffice,
  publish,
  publishing,
  settled,
} from '../tenants.ts';

let mongo: MongoReplicaSet;
let rabbit: TestRabbit;
let mail: Mailbox;
let running: System | undefined;

beforeAll(async () => {
  mongo = await ownMongo();
  rabbit = await testRabbit();
}, 400_000);
beforeEach(async () => {
  mail = await mailbox();
});
afterEach(async () => {
  mail?.answer();
  await running?.stop();
  running = undefined;
  await mail?.close();
}, 60_000);
afterAll(async () => {
  await rabbit?.stop();
  await mongo?.stop();
}, 60_000);

const start = (settings: Record<string, string>) =>
  system({ mongo: mongo.uri, rabbit: rabbit.url, replicas: 2, settings });

/** How long after their commit first attempts have come to some webhooks, ms, the shortest first. */
async function latencies({ db }: System, isMeant: (webhook: string) => boolean): Promise<number[]> {
  const rows = await db.collection('documents_outbox').find({ type: 'document.published' }).toArray();
  const said = new Map(rows.map(({ _id, created_at }) => [String(_id), created_at.getTime() as number]));
  return mail.posts
    .filter(({ webhook, headers }) => isMeant(webhook) && headers['x-service-attempt'] === '1')
    .map(({ headers, at }) => at - (said.get(String(headers['webhook-id'])) ?? 0))
    .sort((a, b) => a - b);
}

const percentile = (sorted: readonly number[], share: number) =>
  sorted[Math.floor(share * (sorted.length - 1))] ?? 0;

/** Says p95 and p99, and holds them against ten times the goals of 1 and 2 s. */
function inTime(what: string, sorted: readonly number[]): void {
  const [p50, p95, p99] = [0.5, 0.95, 0.99].map((share) => percentile(sorted, share));
  process.stderr.write(
    `${what}: ${sorted.length} first attempts, p50 ${p50} ms, p95 ${p95} ms, p99 ${p99} ms\n`,
  );
  expect(p95).toBeLessThan(10_000);
  expect(p99).toBeLessThan(20_000);
}

test('F17: five hundred events for an endpoint that hangs do not hold up a healthy one', async () => {
  running = await start({ WEBHOOK_RETRY_SCHEDULE_SECONDS: '30,1800' });
  const [hanging, healthy] = [
    await openOffice(running, [mail.urlOf('hanging')]),
    await openOffice(running, [mail.urlOf('healthy')]),
  ];
  const never = new Promise<number>(() => {});
  mail.answer(({ path }) => (path === '/hanging' ? never : 204));
  for (let made = 0; made < 500; made += 20)
    await Promise.all(Array.from({ length: 20 }, () => publish(running as System, hanging)));
  const load = publishing(running, healthy, 20);
  await pause(30_000);
  expect(await load.end()).toEqual([]);
  await until('all of the healthy', async () => {
    const come = mail.posts.filter(({ webhook }) => webhook === 'healthy').length;
    return come >= healthy.published.length;
  });
  inTime('F17', await latencies(running, (webhook) => webhook === 'healthy'));
  const hook = hanging.hooks[0]?.id;
  expect((await running.ask('DELETE', `/webhooks/${hook}`, { as: hanging.key })).status).toBe(204);
  await settled(running, [hanging, healthy], 60_000);
  expect(await brokenPromises(running, [hanging, healthy], mail)).toEqual([]);
}, 240_000);

test('F18: two hundred endpoints that are down hold up nobody, and are told in a spread when they are back', async () => {
  running = await start({ WEBHOOK_RETRY_SCHEDULE_SECONDS: '10,20' });
  const of = running;
  const wire = await tcpProxy(mail.urlOf(''));
  const dead = `http://127.0.0.1:${new URL(wire.url).port}`;
  try {
    const offices: Office[] = [];
    for (let count = 0; count < 4; count += 1) {
      const names = Array.from({ length: 50 }, (_, at) => `down-${count}-${at}`);
      // half of them break the connection, half of them say that they are not there
      const urls = names.map((name, at) => (at % 2 === 0 ? `${dead}/${name}` : mail.urlOf(name)));
      offices.push(await openOffice(of, urls));
    }
    const healthy = await openOffice(of, [mail.urlOf('healthy')]);
    wire.cutAfter(Buffer.from('POST'), Number.POSITIVE_INFINITY);
    mail.answer(({ path }) => (path === '/healthy' ? 204 : 503));
    const loads = [publishing(of, healthy, 5), ...offices.map((office) => publishing(of, office, 0.5))];
    await pause(20_000);
    for (const load of loads) expect(await load.end()).toEqual([]);
    wire.cutAfter(Buffer.from('POST'), 0);
    mail.answer();
    await settled(of, [...offices, healthy], 600_000);
    expect(await brokenPromises(of, [...offices, healthy], mail)).toEqual([]);
    inTime('F18 healthy', await latencies(of, (webhook) => webhook === 'healthy'));
    inTime('F18 down', await latencies(of, (webhook) => Number(webhook.split('-')[2]) % 2 === 1));

    const byDelivery = Map.groupBy(mail.posts, ({ headers }) => String(headers['x-service-delivery']));
    const gaps = [...byDelivery.values()]
      .flatMap(([first, second]) => (first && second ? [second.at - first.at] : []))
      .sort((a, b) => a - b);
    const spreadMs = percentile(gaps, 0.9) - percentile(gaps, 0.1);
    process.stderr.write(`F18: ${gaps.length} second attempts, eight of ten spread over ${spreadMs} ms\n`);
    // jitter is a fifth of ten seconds
    expect(gaps[0]).toBeGreaterThanOrEqual(9_900);
    expect(spreadMs).toBeGreaterThan(1_000);
  } finally {
    await wire.close();
  }
}, 800_000);

test('F22: fifty thousand deliveries that are due at once are delivered at a steady rate, in steady memory', async () => {
  // as in a container of 512 MB (docs/deployment.md): otherwise Node lets garbage lie as long as the machine has memory
  const container = { MALLOC_ARENA_MAX: '2', MALLOC_TRIM_THRESHOLD_: '131072' };
  running = await start({ ...container, NODE_OPTIONS: '--max-old-space-size=256' });
  const of = running;
  const offices: Office[] = [];
  for (let count = 0; count < 4; count += 1)
    offices.push(
      await openOffice(
        of,
        Array.from({ length: 50 }, (_, at) => mail.urlOf(`due-${count}-${at}`)),
      ),
    );
  const total = await dueAfterAnOutage(of, offices, 250);
  const memory = async () => {
    const all = await Promise.all(of.deliverers.map((one) => metric(one, 'process_memory_rss_bytes')));
    return Math.max(...all) / 1024 / 1024;
  };
  await until('a tenth', async () => mail.posts.length > total / 10, 120_000);
  const before = await memory();
  let most = before;
  await until(
    'all of them',
    async () => {
      most = Math.max(most, await memory());
      await pause(500);
      return mail.posts.length >= total;
    },
    600_000,
  );
  await settled(of, offices, 60_000);
  const shown = { entries: 'are too many to be shown' } as const;
  expect(await brokenPromises(of, offices, mail, shown)).toEqual([]);
  const { rate, peak } = rates(mail.posts.map(({ at }) => at));
  process.stderr.write(
    `F22: ${total} deliveries at ${Math.round(rate)}/s, at most ${Math.round(peak)}/s (${Math.round((100 * rate) / peak)} %), memory ${Math.round(before)} → ${Math.round(most)} MB\n`,
  );
  expect(rate / peak).toBeGreaterThan(0.4);
  expect(most - before).toBeLessThan(100);
}, 900_000);

/** The rate of the middle nine tenths, and the best of any five seconds, a second. */
function rates(times: readonly number[]): { rate: number; peak: number } {
  const sorted = [...times].sort((a, b) => a - b);
  const [first, last] = [Math.floor(sorted.length * 0.05), Math.floor(sorted.length * 0.95)];
  const seconds = ((sorted[last] ?? 0) - (sorted[first] ?? 0)) / 1_000;
  const perSlot = Map.groupBy(sorted, (at) => Math.floor(at / 5_000));
  const peak = Math.max(...[...perSlot.values()].map((slot) => slot.length / 5));
  return { rate: (last - first) / seconds, peak };
}

/** Writes deliveries as an outage leaves them behind, so many events for each organization; gives the number of deliveries. */
async function dueAfterAnOutage({ db }: System, offices: readonly Office[], events: number): Promise<number> {
  const rowsOf = (name: string) => db.collection<{ _id: string }>(name);
  let total = 0;
  for (const { organizationId: organization_id, hooks } of offices) {
    for (let made = 0; made < events; made += 50) {
      const said = Array.from({ length: 50 }, () => {
        const [id, documentId] = [newId(), newId()];
        const occurred_at = new Date().toISOString();
        const data = { document: { id: documentId, title: 'SOP' } };
        return { id, type: 'document.published', occurred_at, organization_id, actor_id: null, data };
      });
      const at = new Date();
      const times = { created_at: at, updated_at: at };
      const rows = said.flatMap(({ id, type, data }) =>
        hooks.map((hook) => {
          const _id = newId();
          const about = { event_id: id, event_type: type, document_id: data.document.id, config_id: hook.id };
          const unsent = {
            status: 'pending',
            attempts: 0,
            http_status: null,
            duration_ms: null,
            error: null,
          };
          return {
            _id,
            ...about,
            organization_id,
            is_first: true,
            ...unsent,
            shard: toShard(_id),
            due_at: at,
            ...times,
          };
        }),
      );
      await rowsOf('webhook_events').insertMany(
        said.map((event) => ({ _id: event.id, organization_id, body: toBody(event), created_at: at })),
      );
      await rowsOf('documents').insertMany(
        said.map(({ data: { document } }) => ({
          ...{ _id: document.id, family_id: document.id },
          organization_id,
          status: 'published',
        })),
      );
      await rowsOf('documents_outbox').insertMany(
        said.map((event) => ({
          _id: event.id,
          type: event.type,
          event: JSON.stringify(event),
          published_at: at,
        })),
      );
      await rowsOf('webhook_deliveries').insertMany(rows);
      total += rows.length;
    }
  }
  return total;
}

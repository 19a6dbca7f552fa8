/** F19: webhooks change during delivery: their secret is rotated, or they are disabled or deleted. */
import { createHmac } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import {
  type ReceivedRequest,
  slowness,
  type TestRabbit,
  testMongo,
  testRabbit,
  until,
  type WebhookReceiver,
  webhookReceiver,
} from '#libs/testing';
import { type System, startSystem } from './system.ts';
import { createTenant, publish, startPublishing, stopLoads, type TestTenant } from './tenants.ts';
import { findViolations, waitUntilSettled } from './violations.ts';

let mongo: Awaited<ReturnType<typeof testMongo>>;
let rabbit: TestRabbit;
let running: System;
let receiver: WebhookReceiver;
let tenant: TestTenant;

beforeAll(async () => {
  mongo = await testMongo();
  rabbit = await testRabbit();
  const settings = { WEBHOOK_RETRY_SCHEDULE_SECONDS: '3,3' };
  running = await startSystem({ mongo: mongo.uri, rabbit: rabbit.url, replicas: 2, settings });
}, 400_000);
beforeEach(async () => {
  receiver = await webhookReceiver();
  tenant = await createTenant(running, [receiver.urlFor('changed'), receiver.urlFor('same')]);
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

/** Names of the secrets, joined with " and ", whose signatures are in both headers of a POST. */
function findSigners({ headers, body }: ReceivedRequest, secrets: Record<'old' | 'new', string>): string {
  const [ours, standard] = ['x-service-signature', 'webhook-signature'].map((name) =>
    String(headers[name]).split(/[, ](?=sha256=|v1,)/),
  );
  const at = new Date(Number(headers['webhook-timestamp']) * 1000);
  const signed = Object.entries(secrets).filter(([, secret]) => {
    const hex = createHmac('sha256', secret).update(body).digest('hex');
    const signature = new Webhook(secret).sign(String(headers['webhook-id']), at, body);
    return ours?.includes(`sha256=${hex}`) && standard?.includes(signature);
  });
  return signed.map(([name]) => name).join(' and ');
}

const getPublishTime = ({ body }: ReceivedRequest) => Date.parse(JSON.parse(body).timestamp);
/** The latest time at which a POST was signed, because its timestamp is in whole seconds. */
const getSigningTime = ({ headers }: ReceivedRequest) => (Number(headers['webhook-timestamp']) + 1) * 1_000;

test('F19: POSTs have both signatures only during the overlap of a rotation', async () => {
  const overlapMs = Math.ceil(15 * slowness) * 1_000;
  const [hook] = tenant.hooks;
  const load = startPublishing(running, tenant, 10);
  const changed = () => receiver.requestsTo('changed');
  // on a busy machine, all of them may have been signed within the last second
  const isBefore = (post: ReceivedRequest, at: number) => getSigningTime(post) < at;
  await until('20 deliveries, the first before now', async () => {
    return changed().length > 20 && changed().some((post) => isBefore(post, Date.now()));
  });
  const from = Date.now();
  const options = { as: tenant.key, body: { overlap_seconds: overlapMs / 1_000 } };
  const rotated = await running.request('POST', `/webhooks/${hook?.id}/rotate-secret`, options);
  expect(rotated.status).toBe(200);
  const to = Date.now();
  const secrets = { old: String(hook?.secret), new: String(rotated.body.secret) };
  expect(secrets.new).not.toBe(secrets.old);
  // the secrets of a delivery are read after its event is published, and before it is signed
  const before = () => changed().filter((post) => isBefore(post, from));
  const during = () =>
    changed().filter((post) => getPublishTime(post) > to && getSigningTime(post) < from + overlapMs);
  const after = () => changed().filter((post) => getPublishTime(post) > to + overlapMs);
  await until('20 deliveries after the overlap', async () => after().length > 20);
  expect(await load.stop()).toEqual([]);
  await waitUntilSettled(running, [tenant], 60_000);

  const signers = (posts: ReceivedRequest[]) => new Set(posts.map((post) => findSigners(post, secrets)));
  expect(signers(before())).toEqual(new Set(['old']));
  expect(signers(during())).toEqual(new Set(['old and new']));
  expect(signers(after())).toEqual(new Set(['new']));
  const more = { secrets: new Map([[String(hook?.id), [secrets.new]]]) };
  expect(await findViolations(running, [tenant], receiver, more)).toEqual([]);
});

test.each([
  ['F19: disabling a webhook fails its pending deliveries', 'PATCH', 'webhook_inactive'],
  ['F19: deleting a webhook fails its pending deliveries under load', 'DELETE', 'webhook_deleted'],
])('%s', async (_, method, error) => {
  const later = { status: 503, headers: { 'retry-after': '3600' } };
  receiver.respondWith(({ path }) => (path === '/changed' ? later : 204));
  for (let count = 0; count < 5; count += 1) await publish(running, tenant);
  const [hook] = tenant.hooks;
  const pending = { config_id: hook?.id ?? '', status: 'pending', error: 'status_503' };
  const deliveries = running.db.collection('webhook_deliveries');
  // with majority, because the deleting transaction reads so
  const countPending = () => deliveries.countDocuments(pending, { readConcern: 'majority' });
  await until('first attempts', async () => receiver.received.length === 10 && (await countPending()) === 5);
  const body = method === 'PATCH' ? { is_active: false } : undefined;
  const changed = await running.request(method, `/webhooks/${hook?.id}`, { as: tenant.key, body });
  expect(changed.status).toBeLessThan(300);
  const seen = receiver.received.length;
  // the retries are due now instead of in an hour
  await deliveries.updateMany(pending, { $set: { due_at: new Date() } });
  await waitUntilSettled(running, [tenant], 60_000);
  expect(await findViolations(running, [tenant], receiver)).toEqual([]);
  const rows = await deliveries.find({ config_id: hook?.id ?? '' }).toArray();
  const ends = rows.map((row) => `${row.status} ${row.attempts} ${row.error}`);
  expect(ends).toEqual(Array(5).fill(`failed 1 ${error}`));
  expect(receiver.received).toHaveLength(seen);
});

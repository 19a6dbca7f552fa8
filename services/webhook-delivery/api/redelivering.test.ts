/** Tests redelivery of events, over HTTP with a real MongoDB and real receivers. */
import { createHmac } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import { type Person, type TestResponse, type WebhookReceiver, webhookReceiver } from '#libs/testing';
import { documents } from '../../documents/service.ts';
import { identity } from '../../testing/services.ts';
import { WebhookEvent } from '../contract.ts';
import { maxPerRequest } from '../rules/redelivery.ts';
import { webhookDelivery } from '../service.ts';
import { type Entry, type TestContext, testContext } from '../testing/test-context.ts';

let context: TestContext;
let ada: Person;
let receiver: WebhookReceiver;
let status: number;
const longAgo = '2026-01-01T00:00:00+01:00';
beforeAll(async () => {
  // no retries
  context = await testContext([identity, documents, webhookDelivery], {
    WEBHOOK_RETRY_SCHEDULE_SECONDS: ',',
  });
});
beforeEach(async () => {
  ada = await context.createTenant();
  status = 500;
  receiver = await webhookReceiver(() => status);
});
afterEach(() => receiver.close());
afterAll(() => context?.app.stop());

const redeliver = (id: string, as = ada.key, headers = {}): Promise<TestResponse> =>
  context.app.request('POST', `/webhooks/events/${id}/redeliver`, { as, headers });
const redeliverFailed = (
  config_id: string,
  { since = longAgo, as = ada.key, headers = {} }: { since?: string; as?: string; headers?: object } = {},
) => {
  const body = { config_id, since, status: 'failed' };
  return context.app.request('POST', '/webhooks/events/redeliver', { as, body, headers: { ...headers } });
};
const patch = (id: string, body: unknown) =>
  context.app.request('PATCH', `/webhooks/${id}`, { as: ada.key, body });
const collection = (name: string) =>
  context.app.db.collection<{ _id: string; [field: string]: unknown }>(name);

/** Creates an API key of Ada with the role member. */
async function memberKey(): Promise<string> {
  const body = { name: 'Member', role: 'member' };
  return (await context.app.request('POST', '/api-keys', { as: ada.token, body })).body.key;
}

/** Creates a webhook with failed log entries, newest first. */
async function createFailed(count: number): Promise<{ id: string; secret: string; entries: Entry[] }> {
  const hook = await context.createWebhook(ada, receiver.url);
  for (let created = 0; created < count; created += 1) await context.publish(ada);
  const entries = await context.untilSettled(ada, count);
  expect(entries.map((entry) => entry.status)).toEqual(entries.map(() => 'failed'));
  return { ...hook, entries };
}

/** Creates a webhook and inserts failed log entries, each for its own stored event, oldest first. */
async function insertFailed(
  count: number,
): Promise<{ id: string; rows: { _id: string; event_id: string }[] }> {
  const { id, entries } = await createFailed(1);
  const [deliveries, events] = [collection('webhook_deliveries'), collection('webhook_events')];
  const row = await deliveries.findOne({ _id: entries[0]?.id ?? '' });
  const event = await events.findOne({});
  await deliveries.deleteMany({ config_id: id });
  const createdAt = (minute: number) => new Date(Date.parse(longAgo) + minute * 60_000);
  const rows = Array.from({ length: count }, (_, minute) => {
    const ids = { _id: newId(), event_id: newId(), config_id: id };
    return { ...row, ...ids, created_at: createdAt(minute + 1) };
  });
  await deliveries.insertMany(rows);
  await events.insertMany(rows.map(({ event_id }) => ({ ...event, _id: event_id })));
  return { id, rows };
}

describe('redelivering one entry', () => {
  test('a redelivery is a new entry for the same event, with a new signature', async () => {
    const { id, entries } = await createFailed(1);
    const [first] = entries as [Entry];
    const body = { overlap_seconds: 0 };
    const { secret } = (
      await context.app.request('POST', `/webhooks/${id}/rotate-secret`, { as: ada.key, body })
    ).body;
    status = 200;
    const response = await redeliver(first.id);
    expect(response.status).toBe(202);
    const created = WebhookEvent.parse(response.body);
    expect(created).toMatchObject({
      ...{ event_id: first.event_id, event_type: 'document.published', config_id: id, status: 'pending' },
      ...{ attempts: 0, http_status: null, error: null, document_id: first.document_id },
    });
    expect(created.id).not.toBe(first.id);
    const [later, earlier] = await context.untilSettled(ada, 2);
    expect(later).toMatchObject({ id: created.id, status: 'delivered', attempts: 1 });
    expect(earlier).toEqual(first);
    const [sent, resent] = receiver.received;
    expect(receiver.received).toHaveLength(2);
    expect(resent?.body).toBe(sent?.body);
    expect(resent?.headers).toMatchObject({
      'webhook-id': first.event_id,
      'x-service-delivery': created.id,
      'x-service-attempt': '1',
      'x-service-signature': `sha256=${createHmac('sha256', secret)
        .update(resent?.body ?? '')
        .digest('hex')}`,
    });
  });

  test('a delivered or already redelivered entry can be redelivered', async () => {
    status = 200;
    await context.createWebhook(ada, receiver.url);
    await context.publish(ada);
    const [first] = (await context.untilSettled(ada, 1)) as [Entry];
    for (const _ of [1, 2]) expect((await redeliver(first.id)).status).toBe(202);
    await context.untilSettled(ada, 3);
    expect(new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect(new Set(receiver.received.map(({ headers }) => headers['x-service-delivery'])).size).toBe(3);
  });

  test('a pending entry cannot be redelivered', async () => {
    let response: TestResponse | undefined;
    await receiver.close();
    receiver = await webhookReceiver(async ({ headers }) => {
      response = await redeliver(String(headers['x-service-delivery']));
      return 200;
    });
    await context.createWebhook(ada, receiver.url);
    await context.publish(ada);
    await context.untilSettled(ada, 1);
    expect(response).toMatchObject({ status: 400, body: { code: 'delivery_pending' } });
  });

  test('expired events, tests and inactive webhooks are not redelivered', async () => {
    const { id, entries } = await createFailed(2);
    const [entry, other] = entries as [Entry, Entry];
    await patch(id, { is_active: false });
    expect(await redeliver(entry.id)).toMatchObject({ status: 400, body: { code: 'webhook_inactive' } });
    expect(await redeliverFailed(id)).toMatchObject({ status: 400, body: { code: 'webhook_inactive' } });
    await patch(id, { is_active: true });
    await collection('webhook_events').deleteOne({ _id: entry.event_id });
    expect(await redeliver(entry.id)).toMatchObject({ status: 400, body: { code: 'event_expired' } });
    await context.app.request('POST', `/webhooks/${id}/test`, { as: ada.key });
    const [testEntry] = (await context.untilSettled(ada, 3)) as [Entry];
    expect(await redeliver(testEntry.id)).toMatchObject({ status: 400, body: { code: 'test_not_repeated' } });
    expect((await redeliverFailed(id)).body).toEqual({ count: 1 });
    await context.app.request('DELETE', `/webhooks/${id}`, { as: ada.key });
    expect(await redeliver(other.id)).toMatchObject({ status: 400, body: { code: 'webhook_deleted' } });
    expect(await redeliverFailed(id)).toMatchObject({
      status: 400,
      body: { code: 'invalid_request', errors: [{ path: 'body/config_id' }] },
    });
  });

  test('one Idempotency-Key redelivers an entry once', async () => {
    const { entries } = await createFailed(1);
    const headers = { 'Idempotency-Key': newId() };
    const { body } = await redeliver(entries[0]?.id ?? '', ada.key, headers);
    expect((await redeliver(entries[0]?.id ?? '', ada.key, headers)).body).toEqual(body);
    expect(await context.untilSettled(ada, 2)).toHaveLength(2);
  });
});

describe('redelivering failed entries', () => {
  test('failed events since a time are redelivered once per event', async () => {
    const { id, entries } = await createFailed(3);
    const [newest, second, oldest] = entries as [Entry, Entry, Entry];
    // otherwise two entries could have the same millisecond
    const before = new Date(Date.parse(String(second.created_at)) - 1);
    await collection('webhook_deliveries').updateOne({ _id: oldest.id }, { $set: { created_at: before } });
    await context.createWebhook(ada, receiver.url, ['document.archived']);
    status = 200;
    await redeliver(newest.id);
    await context.untilSettled(ada, 4);
    expect((await redeliverFailed(id, { since: String(second.created_at) })).body).toEqual({ count: 1 });
    await context.untilSettled(ada, 5);
    expect((await redeliverFailed(id)).body).toEqual({ count: 1 });
    expect((await redeliverFailed(id)).body).toEqual({ count: 0 });
    const log = await context.untilSettled(ada, 6);
    const arrived = log.filter((entry) => entry.status === 'delivered').map(({ event_id }) => event_id);
    expect(arrived.sort()).toEqual(entries.map(({ event_id }) => event_id).sort());
  });

  test('a failed redelivery can be redelivered, its old entry only once', async () => {
    const { id, entries } = await createFailed(2);
    expect((await redeliver(entries[0]?.id ?? '')).status).toBe(202);
    await context.untilSettled(ada, 3);
    // the failed redelivery of the first event, and the second event
    expect((await redeliverFailed(id)).body).toEqual({ count: 2 });
    await context.untilSettled(ada, 5);
    status = 200;
    expect((await redeliverFailed(id)).body).toEqual({ count: 2 });
    await context.untilSettled(ada, 7);
    expect((await redeliverFailed(id)).body).toEqual({ count: 0 });
  });

  test('concurrent commands and repeated keys redeliver each event once', async () => {
    const { id } = await createFailed(3);
    // an event that failed again would be redelivered by a later command
    status = 200;
    const replica = await context.app.replica();
    const headers = { 'Idempotency-Key': newId() };
    const body = { config_id: id, since: longAgo };
    const responses = await Promise.all([
      ...[1, 2, 3].map(() => redeliverFailed(id)),
      replica.request('POST', '/webhooks/events/redeliver', { as: ada.key, body }),
      redeliverFailed(id, { headers }),
    ]);
    expect(responses.map((response) => response.status)).toEqual([202, 202, 202, 202, 202]);
    const sum = responses.reduce((total, { body: { count } }) => total + count, 0);
    expect(sum).toBe(3);
    expect((await redeliverFailed(id, { headers })).body).toEqual(responses.at(-1)?.body);
    await context.untilSettled(ada, 6);
  });

  test('failed entries are redelivered in batches, oldest first', async () => {
    const { id, rows: failedRows } = await insertFailed(maxPerRequest + 2);
    const rows = collection('webhook_deliveries');
    status = 200;
    expect((await redeliverFailed(id)).body).toEqual({ count: maxPerRequest });
    const remaining = await rows.find({ config_id: id, status: 'failed', redeliverable: true }).toArray();
    expect(remaining.map(({ _id }) => _id).sort()).toEqual(failedRows.slice(-2).map(({ _id }) => _id));
    expect((await redeliverFailed(id)).body).toEqual({ count: 2 });
    expect((await redeliverFailed(id)).body).toEqual({ count: 0 });
    await context.app.request('DELETE', `/webhooks/${id}`, { as: ada.key });
  });

  test('requests while the count is 1,000 redeliver every event', async () => {
    const { id, rows } = await insertFailed(2 * maxPerRequest + 2);
    const expired = rows.slice(0, maxPerRequest).map(({ event_id }) => event_id);
    await collection('webhook_events').deleteMany({ _id: { $in: expired } });
    // the second batch has an entry and its failed redelivery, the third one another redelivery
    const [entry, ...redeliveries] = [0, 1, maxPerRequest].map((at) => rows[maxPerRequest + at]);
    const ids = redeliveries.map((row) => row?._id ?? '');
    const change = { $set: { event_id: entry?.event_id }, $unset: { is_first: '' } } as const;
    await collection('webhook_deliveries').updateMany({ _id: { $in: ids } }, change);
    status = 200;
    const counts: number[] = [];
    do counts.push((await redeliverFailed(id)).body.count);
    while (counts.at(-1) === maxPerRequest);
    expect(counts).toEqual([maxPerRequest, 0]);
    const sent = { event_id: entry?.event_id, status: { $ne: 'failed' } };
    expect(await collection('webhook_deliveries').countDocuments(sent)).toBe(1);
    await context.app.request('DELETE', `/webhooks/${id}`, { as: ada.key });
  });

  test.each([
    ['no since', { since: undefined }, 'body/since'],
    ['a date without a time', { since: '2026-11-21' }, 'body/since'],
    ['another status', { status: 'delivered' }, 'body/status'],
    ['no webhook', { config_id: undefined }, 'body/config_id'],
    ['an unknown webhook', { config_id: newId() }, 'body/config_id'],
  ])('redelivering with %s is rejected', async (_, wrong, path) => {
    const { id } = await context.createWebhook(ada, receiver.url);
    const body = { config_id: id, since: longAgo, status: 'failed', ...wrong };
    const response = await context.app.request('POST', '/webhooks/events/redeliver', { as: ada.key, body });
    expect(response).toMatchObject({ status: 400, body: { code: 'invalid_request', errors: [{ path }] } });
  });
});

describe('permission to redeliver', () => {
  test('only the creator and admins of the organization may redeliver', async () => {
    const { id, entries } = await createFailed(1);
    const entry = entries[0]?.id ?? '';
    const key = await memberKey();
    await collection('webhook_configs').updateOne({ _id: id }, { $set: { created_by: newId() } });
    const rejected = { status: 403, body: { code: 'forbidden' } };
    expect(await redeliver(entry, key)).toMatchObject(rejected);
    expect(await redeliverFailed(id, { as: key })).toMatchObject(rejected);
    const mallory = await context.createTenant();
    expect(await redeliver(entry, mallory.key)).toMatchObject({ status: 404, body: { code: 'not_found' } });
    expect(await redeliverFailed(id, { as: mallory.key })).toMatchObject({ status: 400 });
    expect(await context.log(ada)).toHaveLength(1);
  });

  test('a caller who lost the permission gets no replayed redelivery', async () => {
    const { id, entries } = await createFailed(1);
    const key = await memberKey();
    const headers = { 'Idempotency-Key': newId() };
    expect((await redeliver(entries[0]?.id ?? '', key, headers)).status).toBe(202);
    expect((await redeliverFailed(id, { as: key, headers })).status).toBe(202);
    await collection('webhook_configs').updateOne({ _id: id }, { $set: { created_by: newId() } });
    expect((await redeliver(entries[0]?.id ?? '', key, headers)).status).toBe(403);
    expect((await redeliverFailed(id, { as: key, headers })).status).toBe(403);
  });
});

/** Sending again by command, over HTTP with a real MongoDB and real receivers. */
import { createHmac } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import type { Person, TestResponse } from '#libs/testing';
import { documents } from '../documents/service.ts';
import { identity } from '../identity/service.ts';
import { WebhookEvent } from './contract.ts';
import { maxPerRequest } from './rules/redelivery.ts';
import { webhookDelivery } from './service.ts';
import { type WebhookReceiver, webhookReceiver } from './testing/receiver.ts';
import { type Entry, type TestContext, testContext } from './testing/test-context.ts';

let home: TestContext;
let ada: Person;
let there: WebhookReceiver;
let status: number;
const long = '2026-01-01T00:00:00+01:00';
beforeAll(async () => {
  // one attempt is all there is
  home = await testContext([identity, documents, webhookDelivery], { WEBHOOK_RETRY_SCHEDULE_SECONDS: ',' });
}, 60_000);
beforeEach(async () => {
  ada = await home.createTenant();
  status = 500;
  there = await webhookReceiver(() => status);
});
afterEach(() => there.close());
afterAll(() => home?.app.stop());

const again = (id: string, as = ada.key, headers = {}): Promise<TestResponse> =>
  home.app.request('POST', `/webhooks/events/${id}/redeliver`, { as, headers });
const allAgain = (
  config_id: string,
  { since = long, as = ada.key, headers = {} }: { since?: string; as?: string; headers?: object } = {},
) => {
  const body = { config_id, since, status: 'failed' };
  return home.app.request('POST', '/webhooks/events/redeliver', { as, body, headers: { ...headers } });
};
const patch = (id: string, body: unknown) =>
  home.app.request('PATCH', `/webhooks/${id}`, { as: ada.key, body });
const collection = (name: string) => home.app.db.collection<{ _id: string; [field: string]: unknown }>(name);

/** A key of Ada's that is no admin's. */
async function memberKey(): Promise<string> {
  const body = { name: 'Member', role: 'member' };
  return (await home.app.request('POST', '/api-keys', { as: ada.token, body })).body.key;
}

/** A webhook, and entries of its log that failed, the newest first. */
async function failed(count: number): Promise<{ id: string; secret: string; entries: Entry[] }> {
  const hook = await home.createWebhook(ada, there.url);
  for (let made = 0; made < count; made += 1) await home.publish(ada);
  const entries = await home.untilSettled(ada, count);
  expect(entries.map((entry) => entry.status)).toEqual(entries.map(() => 'failed'));
  return { ...hook, entries };
}

describe('redelivering one entry', () => {
  test('a redelivery is a new entry for the same event, with a new signature', async () => {
    const { id, entries } = await failed(1);
    const [first] = entries as [Entry];
    const body = { overlap_seconds: 0 };
    const { secret } = (
      await home.app.request('POST', `/webhooks/${id}/rotate-secret`, { as: ada.key, body })
    ).body;
    status = 200;
    const answer = await again(first.id);
    expect(answer.status).toBe(202);
    const made = WebhookEvent.parse(answer.body);
    expect(made).toMatchObject({
      ...{ event_id: first.event_id, event_type: 'document.published', config_id: id, status: 'pending' },
      ...{ attempts: 0, http_status: null, error: null, document_id: first.document_id },
    });
    expect(made.id).not.toBe(first.id);
    const [later, earlier] = await home.untilSettled(ada, 2);
    expect(later).toMatchObject({ id: made.id, status: 'delivered', attempts: 1 });
    expect(earlier).toEqual(first);
    const [sent, resent] = there.received;
    expect(there.received).toHaveLength(2);
    expect(resent?.body).toBe(sent?.body);
    expect(resent?.headers).toMatchObject({
      'webhook-id': first.event_id,
      'x-service-delivery': made.id,
      'x-service-attempt': '1',
      'x-service-signature': `sha256=${createHmac('sha256', secret)
        .update(resent?.body ?? '')
        .digest('hex')}`,
    });
  });

  test('a delivered or already redelivered entry can be redelivered', async () => {
    status = 200;
    await home.createWebhook(ada, there.url);
    await home.publish(ada);
    const [first] = (await home.untilSettled(ada, 1)) as [Entry];
    for (const _ of [1, 2]) expect((await again(first.id)).status).toBe(202);
    await home.untilSettled(ada, 3);
    expect(new Set(there.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1);
    expect(new Set(there.received.map(({ headers }) => headers['x-service-delivery'])).size).toBe(3);
  });

  test('a pending entry cannot be redelivered', async () => {
    let answer: TestResponse | undefined;
    await there.close();
    there = await webhookReceiver(async ({ headers }) => {
      answer = await again(String(headers['x-service-delivery']));
      return 200;
    });
    await home.createWebhook(ada, there.url);
    await home.publish(ada);
    await home.untilSettled(ada, 1);
    expect(answer).toMatchObject({ status: 400, body: { code: 'delivery_pending' } });
  });

  test('expired events, tests and inactive webhooks are not redelivered', async () => {
    const { id, entries } = await failed(2);
    const [entry, other] = entries as [Entry, Entry];
    await patch(id, { is_active: false });
    expect(await again(entry.id)).toMatchObject({ status: 400, body: { code: 'webhook_inactive' } });
    expect(await allAgain(id)).toMatchObject({ status: 400, body: { code: 'webhook_inactive' } });
    await patch(id, { is_active: true });
    await collection('webhook_events').deleteOne({ _id: entry.event_id });
    expect(await again(entry.id)).toMatchObject({ status: 400, body: { code: 'event_expired' } });
    await home.app.request('POST', `/webhooks/${id}/test`, { as: ada.key });
    const [tested] = (await home.untilSettled(ada, 3)) as [Entry];
    expect(await again(tested.id)).toMatchObject({ status: 400, body: { code: 'test_not_repeated' } });
    expect((await allAgain(id)).body).toEqual({ count: 1 });
    await home.app.request('DELETE', `/webhooks/${id}`, { as: ada.key });
    expect(await again(other.id)).toMatchObject({ status: 400, body: { code: 'webhook_deleted' } });
    expect(await allAgain(id)).toMatchObject({
      status: 400,
      body: { code: 'invalid_request', errors: [{ path: 'body/config_id' }] },
    });
  });

  test('one Idempotency-Key redelivers an entry once', async () => {
    const { entries } = await failed(1);
    const headers = { 'Idempotency-Key': newId() };
    const { body } = await again(entries[0]?.id ?? '', ada.key, headers);
    expect((await again(entries[0]?.id ?? '', ada.key, headers)).body).toEqual(body);
    expect(await home.untilSettled(ada, 2)).toHaveLength(2);
  });
});

describe('redelivering failed entries', () => {
  test('failed events since a time are redelivered once per event', async () => {
    const { id, entries } = await failed(3);
    const [newest, second] = entries as [Entry, Entry];
    await home.createWebhook(ada, there.url, ['document.archived']);
    status = 200;
    await again(newest.id);
    await home.untilSettled(ada, 4);
    expect((await allAgain(id, { since: String(second.created_at) })).body).toEqual({ count: 1 });
    await home.untilSettled(ada, 5);
    expect((await allAgain(id)).body).toEqual({ count: 1 });
    expect((await allAgain(id)).body).toEqual({ count: 0 });
    const log = await home.untilSettled(ada, 6);
    const arrived = log.filter((entry) => entry.status === 'delivered').map(({ event_id }) => event_id);
    expect(arrived.sort()).toEqual(entries.map(({ event_id }) => event_id).sort());
  });

  test('a failed redelivery can be redelivered, its old entry only once', async () => {
    const { id, entries } = await failed(2);
    expect((await again(entries[0]?.id ?? '')).status).toBe(202);
    await home.untilSettled(ada, 3);
    // the repetition of the one, and the other
    expect((await allAgain(id)).body).toEqual({ count: 2 });
    await home.untilSettled(ada, 5);
    status = 200;
    expect((await allAgain(id)).body).toEqual({ count: 2 });
    await home.untilSettled(ada, 7);
    expect((await allAgain(id)).body).toEqual({ count: 0 });
  });

  test('concurrent commands and repeated keys redeliver each event once', async () => {
    const { id } = await failed(3);
    // what fails once more would be sent again once more by a command that comes later
    status = 200;
    const replica = await home.app.replica();
    const headers = { 'Idempotency-Key': newId() };
    const body = { config_id: id, since: long };
    const answers = await Promise.all([
      ...[1, 2, 3].map(() => allAgain(id)),
      replica.request('POST', '/webhooks/events/redeliver', { as: ada.key, body }),
      allAgain(id, { headers }),
    ]);
    expect(answers.map((one) => one.status)).toEqual([202, 202, 202, 202, 202]);
    const sum = answers.reduce((total, { body: { count } }) => total + count, 0);
    expect(sum).toBe(3);
    expect((await allAgain(id, { headers })).body).toEqual(answers.at(-1)?.body);
    await home.untilSettled(ada, 6);
  }, 30_000);

  test('failed entries are redelivered in batches, oldest first', async () => {
    const { id, entries } = await failed(1);
    const rows = collection('webhook_deliveries');
    const row = await rows.findOne({ _id: entries[0]?.id ?? '' });
    const event = await collection('webhook_events').findOne({});
    await rows.deleteMany({ config_id: id });
    const created = (minute: number) => new Date(Date.parse(long) + minute * 60_000);
    const made = Array.from({ length: maxPerRequest + 2 }, (_, minute) => {
      const ids = { _id: newId(), event_id: newId(), config_id: id };
      return { ...row, ...ids, created_at: created(minute + 1) };
    });
    await rows.insertMany(made);
    await collection('webhook_events').insertMany(made.map(({ event_id }) => ({ ...event, _id: event_id })));
    status = 200;
    expect((await allAgain(id)).body).toEqual({ count: maxPerRequest });
    const left = await rows.find({ config_id: id, status: 'failed', redeliverable: true }).toArray();
    expect(left.map(({ _id }) => _id).sort()).toEqual(made.slice(-2).map(({ _id }) => _id));
    expect((await allAgain(id)).body).toEqual({ count: 2 });
    expect((await allAgain(id)).body).toEqual({ count: 0 });
    await home.app.request('DELETE', `/webhooks/${id}`, { as: ada.key });
  }, 30_000);

  test.each([
    ['no time', { since: undefined }, 'body/since'],
    ['a day without a time', { since: '2026-11-21' }, 'body/since'],
    ['another status', { status: 'delivered' }, 'body/status'],
    ['no webhook', { config_id: undefined }, 'body/config_id'],
    ['an unknown webhook', { config_id: newId() }, 'body/config_id'],
  ])('redelivering with %s is rejected', async (_, wrong, path) => {
    const { id } = await home.createWebhook(ada, there.url);
    const body = { config_id: id, since: long, status: 'failed', ...wrong };
    const answer = await home.app.request('POST', '/webhooks/events/redeliver', { as: ada.key, body });
    expect(answer).toMatchObject({ status: 400, body: { code: 'invalid_request', errors: [{ path }] } });
  });
});

describe('permission to redeliver', () => {
  test('only the creator and admins of the organization may redeliver', async () => {
    const { id, entries } = await failed(1);
    const entry = entries[0]?.id ?? '';
    const key = await memberKey();
    await collection('webhook_configs').updateOne({ _id: id }, { $set: { created_by: newId() } });
    const refused = { status: 403, body: { code: 'forbidden' } };
    expect(await again(entry, key)).toMatchObject(refused);
    expect(await allAgain(id, { as: key })).toMatchObject(refused);
    const mallory = await home.createTenant();
    expect(await again(entry, mallory.key)).toMatchObject({ status: 404, body: { code: 'not_found' } });
    expect(await allAgain(id, { as: mallory.key })).toMatchObject({ status: 400 });
    expect(await home.log(ada)).toHaveLength(1);
  });

  test('a caller who lost the permission gets no replayed redelivery', async () => {
    const { id, entries } = await failed(1);
    const key = await memberKey();
    const headers = { 'Idempotency-Key': newId() };
    expect((await again(entries[0]?.id ?? '', key, headers)).status).toBe(202);
    expect((await allAgain(id, { as: key, headers })).status).toBe(202);
    await collection('webhook_configs').updateOne({ _id: id }, { $set: { created_by: newId() } });
    expect((await again(entries[0]?.id ?? '', key, headers)).status).toBe(403);
    expect((await allAgain(id, { as: key, headers })).status).toBe(403);
  });
});

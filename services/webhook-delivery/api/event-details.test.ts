/** Tests an entry of the event log with its requests and responses, over HTTP with real receivers. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import {
  addMember,
  freePorts,
  type Person,
  type ReceivedRequest,
  type Responder,
  type TestResponse,
  webhookReceiver,
} from '#libs/testing';
import { documents } from '../../documents/service.ts';
import { identity } from '../../testing/services.ts';
import { type WebhookAttempt, WebhookEvent, WebhookEventDetails } from '../contract.ts';
import { webhookDelivery } from '../service.ts';
import { type TestContext, testContext } from '../testing/test-context.ts';

let context: TestContext;
let ada: Person;
const open: { close(): Promise<void> }[] = [];

beforeAll(async () => {
  context = await testContext([identity, documents, webhookDelivery]);
});
beforeEach(async () => {
  ada = await context.createTenant();
});
afterEach(async () => {
  for (const receiver of open.splice(0)) await receiver.close();
});
afterAll(() => context?.app.stop());

async function startReceiver(respond?: Responder) {
  const receiver = await webhookReceiver(respond);
  open.push(receiver);
  return receiver;
}

const get = (id: string, as = ada.key): Promise<TestResponse> =>
  context.app.request('GET', `/webhooks/events/${id}`, { as });

const getDetails = async (id: string, as?: string) => WebhookEventDetails.parse((await get(id, as)).body);

/** Publishes a document and returns the entries when all deliveries have ended. */
async function publishAndSettle(count = 1) {
  await context.publish(ada);
  return context.untilSettled(ada, count);
}

/** Asserts that an attempt shows the headers of a request, apart from those of the connection and its signatures. */
function expectHeaders({ request_headers }: WebhookAttempt, { headers }: ReceivedRequest): void {
  const { host, connection, 'content-length': _, ...sent } = headers;
  expect([host, connection]).toEqual([expect.any(String), expect.any(String)]);
  for (const name of ['x-service-signature', 'webhook-signature']) {
    expect(sent[name]).toMatch(/^(sha256=|v1,)/);
    sent[name] = '[redacted]';
  }
  const shown = Object.entries(request_headers).map(([name, value]) => [name.toLowerCase(), value]);
  expect(Object.fromEntries(shown)).toEqual(sent);
}

describe('an entry of the event log', () => {
  test('shows the requests and responses of every attempt', async () => {
    const replies = [
      { status: 500, headers: { 'content-type': 'text/plain' }, body: 'Out of paper' },
      { status: 503, body: '$secret {"$ne": 1}' },
      { status: 200, body: 'x'.repeat(5_000) },
    ];
    const receiver = await startReceiver(() => replies.shift() ?? 204);
    await context.createWebhook(ada, receiver.url);
    const [entry] = await publishAndSettle();
    const details = await getDetails(String(entry?.id));
    const { request_body, attempt_log, ...listed } = details;
    expect(WebhookEvent.parse(listed)).toEqual(entry);
    expect(receiver.received.map(({ body }) => body)).toEqual(Array(3).fill(request_body));
    expect(attempt_log).toMatchObject([
      {
        attempt: 1,
        http_status: 500,
        error: 'status_500',
        response: { headers: { 'content-type': 'text/plain' }, body: 'Out of paper', truncated: false },
        response_withheld: false,
      },
      { attempt: 2, http_status: 503, error: 'status_503', response: { body: '$secret {"$ne": 1}' } },
      { attempt: 3, http_status: 200, error: null, response: { body: 'x'.repeat(1_024), truncated: true } },
    ]);
    for (const [at, attempt] of attempt_log.entries()) {
      const request = receiver.received[at] as ReceivedRequest;
      expectHeaders(attempt, request);
      expect(Date.parse(attempt.started_at)).toBeLessThanOrEqual(request.at);
    }
    const starts = attempt_log.map(({ started_at }) => started_at);
    expect(starts).toEqual(starts.toSorted());
    expect(attempt_log.at(-1)?.duration_ms).toBe(details.duration_ms);
  });

  test('shows an attempt without a response', async () => {
    const [port] = await freePorts(1);
    await context.createWebhook(ada, `http://127.0.0.1:${port}/hook`);
    const [entry] = await publishAndSettle();
    const attempt = { http_status: null, error: 'econnrefused', response: null, response_withheld: false };
    expect((await getDetails(String(entry?.id))).attempt_log).toMatchObject([attempt, attempt, attempt]);
  });

  test('has no attempt if no request was sent', async () => {
    const receiver = await startReceiver(async () => {
      await context.app.request('PATCH', `/webhooks/${hook.id}`, { as: ada.key, body: { is_active: false } });
      return 500;
    });
    const hook = await context.createWebhook(ada, receiver.url);
    const [entry] = await publishAndSettle();
    const details = await getDetails(String(entry?.id));
    expect(details).toMatchObject({ status: 'failed', attempts: 1, error: 'webhook_inactive' });
    expect(details.attempt_log).toMatchObject([{ attempt: 1, http_status: 500 }]);
  });

  test('shows a test', async () => {
    const receiver = await startReceiver(() => ({ status: 404, body: 'No such hook' }));
    const { id } = await context.createWebhook(ada, receiver.url);
    await context.app.request('POST', `/webhooks/${id}/test`, { as: ada.key });
    const [entry] = await context.log(ada);
    const { request_body, attempt_log } = await getDetails(String(entry?.id));
    expect(request_body).toBe(receiver.received[0]?.body);
    expect(attempt_log).toMatchObject([{ attempt: 1, http_status: 404, response: { body: 'No such hook' } }]);
    expectHeaders(attempt_log[0] as WebhookAttempt, receiver.received[0] as ReceivedRequest);
  });

  test('of a redelivery has only its own attempts', async () => {
    const receiver = await startReceiver(() => 410);
    const hook = await context.createWebhook(ada, receiver.url);
    const [first] = await publishAndSettle();
    receiver.respondWith(() => ({ status: 200, body: 'Thanks' }));
    await context.app.request('PATCH', `/webhooks/${hook.id}`, { as: ada.key, body: { is_active: true } });
    const path = `/webhooks/events/${first?.id}/redeliver`;
    const { body: second } = await context.app.request('POST', path, { as: ada.key });
    await context.untilSettled(ada, 2);
    const [before, after] = [await getDetails(String(first?.id)), await getDetails(second.id)];
    expect(before.attempt_log).toMatchObject([{ http_status: 410 }]);
    expect(after.attempt_log).toMatchObject([{ attempt: 1, response: { body: 'Thanks' } }]);
    expect(after.request_body).toBe(before.request_body);
  });

  test('has no body after its event was deleted', async () => {
    const receiver = await startReceiver();
    await context.createWebhook(ada, receiver.url);
    const [entry] = await publishAndSettle();
    const events = context.app.db.collection<{ _id: string }>('webhook_events');
    await events.deleteOne({ _id: String(entry?.event_id) });
    const details = await getDetails(String(entry?.id));
    expect(details).toMatchObject({ request_body: null, attempt_log: [{ http_status: 204 }] });
  });

  test('of an earlier version has no attempts', async () => {
    const receiver = await startReceiver();
    await context.createWebhook(ada, receiver.url);
    const [entry] = await publishAndSettle();
    const entries = context.app.db.collection<{ _id: string }>('webhook_deliveries');
    await entries.updateOne({ _id: String(entry?.id) }, { $unset: { attempt_log: '' } });
    expect((await getDetails(String(entry?.id))).attempt_log).toEqual([]);
  });
});

test('the list of the event log contains no bodies', async () => {
  const receiver = await startReceiver(() => ({ status: 200, body: 'Thanks' }));
  await context.createWebhook(ada, receiver.url);
  const [entry] = await publishAndSettle();
  expect(Object.keys(entry ?? {}).sort()).toEqual(Object.keys(WebhookEvent.shape).sort());
});

test('the list of the event log can be limited to one document', async () => {
  const receiver = await startReceiver();
  await context.createWebhook(ada, receiver.url);
  const documentIds = [await context.publish(ada), await context.publish(ada)];
  await context.untilSettled(ada, 2);
  const list = (id: string) =>
    context.app.request('GET', `/webhooks/events?document_id=${id}`, { as: ada.key });
  for (const document_id of documentIds)
    expect((await list(document_id)).body).toMatchObject([{ document_id }]);
  expect((await list(newId())).body).toEqual([]);
  expect(await list('x')).toMatchObject({ status: 400, body: { errors: [{ path: 'query/document_id' }] } });
});

describe('who may read an entry', () => {
  test('only the creator of the webhook and admins', async () => {
    const receiver = await startReceiver(() => ({ status: 200, body: 'internal' }));
    const [creator, other] = [
      await addMember(context.app, ada.token),
      await addMember(context.app, ada.token),
    ];
    await context.createWebhook({ ...ada, key: creator.token }, receiver.url);
    const [entry] = await publishAndSettle();
    const id = String(entry?.id);
    for (const as of [creator.token, ada.token])
      expect((await getDetails(id, as)).attempt_log[0]?.response?.body).toBe('internal');
    const rejected = await get(id, other.token);
    expect(rejected).toMatchObject({ status: 403, body: { code: 'forbidden' } });
    const mallory = await context.createTenant();
    for (const unknownId of [id, newId(), 'nonsense'])
      expect(await get(unknownId, mallory.key)).toMatchObject({ status: 404, body: { code: 'not_found' } });
  });

  test('only admins if the webhook was deleted', async () => {
    const receiver = await startReceiver();
    const creator = await addMember(context.app, ada.token);
    const hook = await context.createWebhook({ ...ada, key: creator.token }, receiver.url);
    const [entry] = await publishAndSettle();
    await context.app.request('DELETE', `/webhooks/${hook.id}`, { as: creator.token });
    expect((await get(String(entry?.id), creator.token)).status).toBe(403);
    expect((await getDetails(String(entry?.id))).attempt_log).toHaveLength(1);
  });
});

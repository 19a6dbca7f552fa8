/** Tests secret rotation over HTTP, with real receivers: which secrets sign, and until when. */
import { createHmac } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { Webhook as Verifier } from 'standardwebhooks';
import { newId } from '#libs/contract';
import {
  type Person,
  type ReceivedRequest,
  type TestResponse,
  until,
  type WebhookReceiver,
  webhookReceiver,
} from '#libs/testing';
import { documents } from '../../documents/service.ts';
import { identity } from '../../testing/services.ts';
import { RotatedWebhook } from '../contract.ts';
import { rotateSecrets } from '../rules/secrets.ts';
import { webhookDelivery } from '../service.ts';
import { type TestContext, testContext } from '../testing/test-context.ts';

let context: TestContext;
let ada: Person;
let receiver: WebhookReceiver;
/** Offset of the services' clock, in seconds; at most 300, because a receiver rejects later timestamps. */
let clockOffsetS = 0;

beforeAll(async () => {
  const clock = () => new Date(Date.now() + clockOffsetS * 1000);
  context = await testContext([identity, documents, webhookDelivery], {}, clock);
});
beforeEach(async () => {
  ada = await context.createTenant();
  receiver = await webhookReceiver();
});
afterEach(async () => {
  clockOffsetS = 0;
  await receiver.close();
});
afterAll(() => context?.app.stop());

const rotate = (id: string, body?: unknown, headers = {}, as = ada.key): Promise<TestResponse> =>
  context.app.request('POST', `/webhooks/${id}/rotate-secret`, { as, body, headers });

/** Rotates the secret and returns the new one. */
async function rotateAndGetSecret(id: string, overlap_seconds?: number): Promise<string> {
  const { status, body } = await rotate(id, overlap_seconds === undefined ? undefined : { overlap_seconds });
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body.secret;
}

/** Sends a test event and returns the received request. */
async function sendTest(id: string): Promise<ReceivedRequest> {
  receiver.received.length = 0;
  await context.app.request('POST', `/webhooks/${id}/test`, { as: ada.key });
  const [request] = receiver.received;
  if (!request) throw new Error('Nothing arrived');
  return request;
}

/** Asserts that a request has exactly the signatures of these secrets, in this order, in both schemes. */
function expectSigned({ body, headers }: ReceivedRequest, secrets: readonly string[]): void {
  const signatures = secrets.map(
    (secret) => `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
  );
  expect(headers['x-service-signature']).toBe(signatures.join(','));
  expect(String(headers['webhook-signature']).split(' ')).toHaveLength(secrets.length);
  const standardHeaders = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, String(value)]),
  );
  for (const secret of secrets)
    expect(new Verifier(secret).verify(body, standardHeaders)).toEqual(JSON.parse(body));
}

const rows = () =>
  context.app.db.collection<{ _id: string; secrets: { sealed: string; until: Date | null }[] }>(
    'webhook_configs',
  );

test('the old secret signs until the overlap ends and is then deleted', async () => {
  const { id, secret: oldSecret } = await context.createWebhook(ada, receiver.url);
  const before = Date.now();
  const response = await rotate(id, { overlap_seconds: 240 });
  const { secret: newSecret, older_secrets_until } = RotatedWebhook.parse(response.body);
  expect(newSecret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(newSecret).not.toBe(oldSecret);
  const overlapEnd = Date.parse(String(older_secrets_until));
  expect(overlapEnd).toBeGreaterThanOrEqual(before + 240_000);
  expect(overlapEnd).toBeLessThanOrEqual(Date.now() + 240_000);
  expectSigned(await sendTest(id), [String(newSecret), oldSecret]);
  clockOffsetS = 60;
  expectSigned(await sendTest(id), [String(newSecret), oldSecret]);
  clockOffsetS = 241;
  expectSigned(await sendTest(id), [String(newSecret)]);
  await until('the old secret to be deleted', async () => {
    const row = await rows().findOne({ _id: id });
    return row?.secrets.length === 1 && row.secrets[0]?.until === null;
  });
  expectSigned(await sendTest(id), [String(newSecret)]);
});

test('the default overlap is one day; zero stops the old secret at once', async () => {
  const { id } = await context.createWebhook(ada, receiver.url);
  const before = Date.now();
  const overlapEnd = Date.parse((await rotate(id)).body.older_secrets_until);
  expect(overlapEnd).toBeGreaterThanOrEqual(before + 86_400_000);
  expect(overlapEnd).toBeLessThanOrEqual(Date.now() + 86_400_000);
  const alone = await rotate(id, { overlap_seconds: 0 });
  expect(alone.body.older_secrets_until).toBeNull();
  expectSigned(await sendTest(id), [alone.body.secret]);
  expect((await rows().findOne({ _id: id }))?.secrets).toHaveLength(1);
});

test('a second rotation within the overlap extends no older secret', async () => {
  const { id, secret: first } = await context.createWebhook(ada, receiver.url);
  const second = await rotateAndGetSecret(id, 100);
  const third = await rotateAndGetSecret(id, 280);
  expectSigned(await sendTest(id), [third, second, first]);
  clockOffsetS = 101;
  expectSigned(await sendTest(id), [third, second]);
  const fourth = await rotateAndGetSecret(id, 90);
  expectSigned(await sendTest(id), [fourth, third, second]);
  clockOffsetS = 200;
  expectSigned(await sendTest(id), [fourth]);
});

test('a rotation that would make six secrets sign is rejected', async () => {
  const { id, secret } = await context.createWebhook(ada, receiver.url);
  const secrets = [secret];
  for (let count = 0; count < 4; count += 1) secrets.unshift(await rotateAndGetSecret(id));
  expectSigned(await sendTest(id), secrets);
  expect(await rotate(id)).toMatchObject({ status: 400, body: { code: 'too_many_secrets' } });
  expectSigned(await sendTest(id), secrets);
  const alone = await rotateAndGetSecret(id, 0);
  expectSigned(await sendTest(id), [alone]);
});

test('concurrent rotations by two replicas keep all secrets', async () => {
  const replica = await context.app.replica();
  const { id, secret } = await context.createWebhook(ada, receiver.url);
  const options = { as: ada.key };
  const responses = await Promise.all(
    [context.app, replica, context.app, replica].map((app) =>
      app.request('POST', `/webhooks/${id}/rotate-secret`, options),
    ),
  );
  expect(responses.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  const row = await rows().findOne({ _id: id });
  expect(row?.secrets.map(({ until }) => until === null)).toEqual([true, false, false, false, false]);
  const request = await sendTest(id);
  const standardHeaders = Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
  );
  for (const expected of [secret, ...responses.map(({ body }) => body.secret)])
    expect(new Verifier(expected).verify(request.body, standardHeaders)).toEqual(JSON.parse(request.body));
});

test('a retry is signed with the secrets valid at its own time', async () => {
  let newSecret = '';
  await receiver.close();
  receiver = await webhookReceiver(async () => {
    if (newSecret !== '') return 200;
    newSecret = await rotateAndGetSecret(hook.id, 0);
    return 500;
  });
  const hook = await context.createWebhook(ada, receiver.url);
  await context.publish(ada);
  await context.untilSettled(ada, 1);
  const [first, second] = receiver.received as [ReceivedRequest, ReceivedRequest];
  expectSigned(first, [hook.secret]);
  expectSigned(second, [newSecret]);
  expect(second.body).toBe(first.body);
});

test('a replayed rotation changes nothing and shows no secret', async () => {
  const { id, secret: oldSecret } = await context.createWebhook(ada, receiver.url);
  const headers = { 'Idempotency-Key': newId() };
  const first = await rotate(id, undefined, headers);
  const replayed = await rotate(id, undefined, headers);
  expect(replayed.headers.get('idempotency-replayed')).toBe('true');
  expect(replayed.body).toEqual({ ...first.body, secret: null });
  expectSigned(await sendTest(id), [first.body.secret, oldSecret]);
});

test('a caller who lost the permission gets no replayed rotation', async () => {
  const body = { name: 'Member', role: 'member' };
  const { key } = (await context.app.request('POST', '/api-keys', { as: ada.token, body })).body;
  const { id } = await context.createWebhook({ ...ada, key }, receiver.url);
  const headers = { 'Idempotency-Key': newId() };
  expect((await rotate(id, undefined, headers, key)).status).toBe(200);
  await context.app.db
    .collection<{ _id: string }>('webhook_configs')
    .updateOne({ _id: id }, { $set: { created_by: newId() } });
  const rejected = { status: 403, body: { code: 'forbidden' } };
  expect(await rotate(id, undefined, headers, key)).toMatchObject(rejected);
  expect(await rotate(id, undefined, {}, key)).toMatchObject(rejected);
});

test.each([[-1], [604_801], [1.5], ['60'], [null]])(
  'an overlap of %p is rejected',
  async (overlap_seconds) => {
    const { id } = await context.createWebhook(ada, receiver.url);
    expect(await rotate(id, { overlap_seconds })).toMatchObject({
      status: 400,
      body: { code: 'invalid_request', errors: [{ path: 'body/overlap_seconds' }] },
    });
    expect((await rows().findOne({ _id: id }))?.secrets).toHaveLength(1);
  },
);

test('rotateSecrets expires older secrets at the overlap or their own end', () => {
  const at = new Date(1_000_000);
  const after = (seconds: number) => new Date(at.getTime() + seconds * 1000);
  const list = (...ends: (number | null)[]) => ends.map((s) => ({ until: s === null ? null : after(s) }));
  const newSecret = { until: null };
  expect(rotateSecrets(list(null, 5, 90, -1), newSecret, { at, overlapSeconds: 60 })).toEqual(
    list(null, 60, 5, 60),
  );
  expect(rotateSecrets(list(null, 5), newSecret, { at, overlapSeconds: 0 })).toEqual(list(null));
});

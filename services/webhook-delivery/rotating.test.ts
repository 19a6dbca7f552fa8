/** Rotating secrets, over HTTP with a real MongoDB and real receivers: which secrets sign, until when, and what is left of them. */
import { createHmac } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { Webhook as Verifier } from 'standardwebhooks';
import { newId } from '#libs/contract';
import { type Person, type TestResponse, until } from '#libs/testing';
import { documents } from '../documents/service.ts';
import { identity } from '../identity/service.ts';
import { RotatedWebhook } from './contract.ts';
import { rotateSecrets } from './rules/secrets.ts';
import { webhookDelivery } from './service.ts';
import { type ReceivedRequest, type WebhookReceiver, webhookReceiver } from './testing/receiver.ts';
import { type TestContext, testContext } from './testing/test-context.ts';

let home: TestContext;
let ada: Person;
let there: WebhookReceiver;
/** How far the services' clock is ahead of the machine's, s. */
let ahead = 0;

beforeAll(async () => {
  const clock = () => new Date(Date.now() + ahead * 1000);
  home = await testContext([identity, documents, webhookDelivery], {}, clock);
}, 60_000);
beforeEach(async () => {
  ada = await home.createTenant();
  there = await webhookReceiver();
});
afterEach(async () => {
  ahead = 0;
  await there.close();
});
afterAll(() => home?.app.stop());

const rotate = (id: string, body?: unknown, headers = {}, as = ada.key): Promise<TestResponse> =>
  home.app.request('POST', `/webhooks/${id}/rotate-secret`, { as, body, headers });

/** Rotates and gives the new secret. */
async function renewed(id: string, overlap_seconds?: number): Promise<string> {
  const { status, body } = await rotate(id, overlap_seconds === undefined ? undefined : { overlap_seconds });
  if (status !== 200) throw new Error(JSON.stringify(body));
  return body.secret;
}

/** Sends a test event now, and gives it as it arrived. */
async function delivered(id: string): Promise<ReceivedRequest> {
  there.received.length = 0;
  await home.app.request('POST', `/webhooks/${id}/test`, { as: ada.key });
  const [got] = there.received;
  if (!got) throw new Error('Nothing arrived');
  return got;
}

/** Asserts that a delivery is signed with these secrets in both ways, in this order, and with no other. */
function expectSigned({ body, headers }: ReceivedRequest, secrets: readonly string[]): void {
  const ours = secrets.map((secret) => `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`);
  expect(headers['x-service-signature']).toBe(ours.join(','));
  expect(String(headers['webhook-signature']).split(' ')).toHaveLength(secrets.length);
  const trio = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]));
  for (const secret of secrets) expect(new Verifier(secret).verify(body, trio)).toEqual(JSON.parse(body));
}

const rows = () =>
  home.app.db.collection<{ _id: string; secrets: { sealed: string; until: Date | null }[] }>(
    'webhook_configs',
  );

test('the old secret signs until the overlap ends and is then deleted', async () => {
  const { id, secret: old } = await home.createWebhook(ada, there.url);
  const answer = await rotate(id, { overlap_seconds: 60 });
  const { secret: young, older_secrets_until } = RotatedWebhook.parse(answer.body);
  expect(young).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
  expect(young).not.toBe(old);
  expect(Date.parse(String(older_secrets_until)) - Date.now()).toBeLessThanOrEqual(60_000);
  expectSigned(await delivered(id), [String(young), old]);
  ahead = 59;
  expectSigned(await delivered(id), [String(young), old]);
  ahead = 61;
  expectSigned(await delivered(id), [String(young)]);
  await until('the old secret is removed', async () => {
    const row = await rows().findOne({ _id: id });
    return row?.secrets.length === 1 && row.secrets[0]?.until === null;
  });
  expectSigned(await delivered(id), [String(young)]);
});

test('the default overlap is one day; zero stops the old secret at once', async () => {
  const { id } = await home.createWebhook(ada, there.url);
  const until = Date.parse((await rotate(id)).body.older_secrets_until);
  expect(Math.abs(until - Date.now() - 86_400_000)).toBeLessThan(60_000);
  const alone = await rotate(id, { overlap_seconds: 0 });
  expect(alone.body.older_secrets_until).toBeNull();
  expectSigned(await delivered(id), [alone.body.secret]);
  expect((await rows().findOne({ _id: id }))?.secrets).toHaveLength(1);
});

test('a second rotation within the overlap extends no older secret', async () => {
  const { id, secret: first } = await home.createWebhook(ada, there.url);
  const second = await renewed(id, 30);
  const third = await renewed(id, 120);
  expectSigned(await delivered(id), [third, second, first]);
  ahead = 31;
  expectSigned(await delivered(id), [third, second]);
  const fourth = await renewed(id, 10);
  expectSigned(await delivered(id), [fourth, third, second]);
  ahead = 42;
  expectSigned(await delivered(id), [fourth]);
});

test('a rotation that would make six secrets sign is rejected', async () => {
  const { id, secret } = await home.createWebhook(ada, there.url);
  const secrets = [secret];
  for (let count = 0; count < 4; count += 1) secrets.unshift(await renewed(id));
  expectSigned(await delivered(id), secrets);
  expect(await rotate(id)).toMatchObject({ status: 400, body: { code: 'too_many_secrets' } });
  expectSigned(await delivered(id), secrets);
  const alone = await renewed(id, 0);
  expectSigned(await delivered(id), [alone]);
});

test('concurrent rotations by two replicas keep all secrets', async () => {
  const replica = await home.app.replica();
  const { id, secret } = await home.createWebhook(ada, there.url);
  const asked = { as: ada.key };
  const answers = await Promise.all(
    [home.app, replica, home.app, replica].map((one) =>
      one.request('POST', `/webhooks/${id}/rotate-secret`, asked),
    ),
  );
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200]);
  const row = await rows().findOne({ _id: id });
  expect(row?.secrets.map(({ until }) => until === null)).toEqual([true, false, false, false, false]);
  const got = await delivered(id);
  const trio = Object.fromEntries(Object.entries(got.headers).map(([name, value]) => [name, String(value)]));
  for (const one of [secret, ...answers.map(({ body }) => body.secret)])
    expect(new Verifier(one).verify(got.body, trio)).toEqual(JSON.parse(got.body));
}, 20_000);

test('a retry is signed with the secrets valid at its own time', async () => {
  let young = '';
  await there.close();
  there = await webhookReceiver(async () => {
    if (young !== '') return 200;
    young = await renewed(hook.id, 0);
    return 500;
  });
  const hook = await home.createWebhook(ada, there.url);
  await home.publish(ada);
  await home.untilSettled(ada, 1);
  const [first, second] = there.received as [ReceivedRequest, ReceivedRequest];
  expectSigned(first, [hook.secret]);
  expectSigned(second, [young]);
  expect(second.body).toBe(first.body);
});

test('a replayed rotation changes nothing and shows no secret', async () => {
  const { id, secret: old } = await home.createWebhook(ada, there.url);
  const headers = { 'Idempotency-Key': newId() };
  const first = await rotate(id, undefined, headers);
  const again = await rotate(id, undefined, headers);
  expect(again.headers.get('idempotency-replayed')).toBe('true');
  expect(again.body).toEqual({ ...first.body, secret: null });
  expectSigned(await delivered(id), [first.body.secret, old]);
});

test('a caller who lost the permission gets no replayed rotation', async () => {
  const body = { name: 'Member', role: 'member' };
  const { key } = (await home.app.request('POST', '/api-keys', { as: ada.token, body })).body;
  const { id } = await home.createWebhook({ ...ada, key }, there.url);
  const headers = { 'Idempotency-Key': newId() };
  expect((await rotate(id, undefined, headers, key)).status).toBe(200);
  await home.app.db
    .collection<{ _id: string }>('webhook_configs')
    .updateOne({ _id: id }, { $set: { created_by: newId() } });
  const refused = { status: 403, body: { code: 'forbidden' } };
  expect(await rotate(id, undefined, headers, key)).toMatchObject(refused);
  expect(await rotate(id, undefined, {}, key)).toMatchObject(refused);
});

test.each([[-1], [604_801], [1.5], ['60'], [null]])(
  'an overlap of %p is rejected',
  async (overlap_seconds) => {
    const { id } = await home.createWebhook(ada, there.url);
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
  const young = { until: null };
  expect(rotateSecrets(list(null, 5, 90, -1), young, { at, overlapSeconds: 60 })).toEqual(
    list(null, 60, 5, 60),
  );
  expect(rotateSecrets(list(null, 5), young, { at, overlapSeconds: 0 })).toEqual(list(null));
});

/** Webhooks that fail, over HTTP with a real MongoDB and real receivers: their creator hears of it, and after five days they are switched off. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import { type Person, until } from '#libs/testing';
import { documents } from '../documents/service.ts';
import { identity } from '../identity/service.ts';
import { webhookDelivery } from './service.ts';
import { type WebhookReceiver, webhookReceiver } from './testing/receiver.ts';
import { type TestContext, testContext } from './testing/test-context.ts';

const day = 86_400;

interface Item {
  id: string;
  type: string;
  title: string;
  data: { [field: string]: unknown };
}

let home: TestContext;
let ada: Person;
let there: WebhookReceiver;
let status: number;
/** How far the services' clock is ahead of the machine's, s; never more than zero, for MongoDB keeps its own. */
let ahead = 0;

beforeAll(async () => {
  // one attempt is all there is
  const clock = () => new Date(Date.now() + ahead * 1000);
  home = await testContext(
    [identity, documents, webhookDelivery],
    { WEBHOOK_RETRY_SCHEDULE_SECONDS: ',' },
    clock,
  );
}, 60_000);
beforeEach(async () => {
  ada = await home.createTenant();
  status = 500;
  there = await webhookReceiver(() => status);
});
afterEach(async () => {
  ahead = 0;
  await there.close();
});
afterAll(() => home?.app.stop());

const inbox = async (as: string): Promise<Item[]> =>
  (await home.app.request('GET', '/inbox', { as })).body.filter(({ type }: Item) =>
    type.startsWith('webhook.'),
  );
const isActive = async (id: string) =>
  (await home.app.request('GET', `/webhooks/${id}`, { as: ada.key })).body.is_active;
const patch = (id: string, body: unknown) =>
  home.app.request('PATCH', `/webhooks/${id}`, { as: ada.key, body });
const notificationsPending = () =>
  home.app.db.collection('webhook_deliveries').countDocuments({ notification_pending: true });

/** The items about webhooks, once there are so many and nothing is left to tell. */
const told = (count: number, as = ada.token): Promise<Item[]> =>
  until(`${count} items`, async () => {
    const items = await inbox(as);
    return items.length === count && (await notificationsPending()) === 0 && items;
  });

/** Publishes, so many days ago, and waits until the deliveries of it are settled and the failures told. */
async function publish(daysAgo: number, ended: 'delivered' | 'failed' = 'failed'): Promise<void> {
  ahead = -daysAgo * day;
  status = ended === 'failed' ? 500 : 200;
  const before = (await home.log(ada)).length;
  await home.publish(ada);
  const [newest] = await home.untilSettled(ada, before + 1);
  expect(newest?.status).toBe(ended);
  // MongoDB says when an attempt ended, and its clock is its own
  await home.app.db
    .collection<{ _id: string }>('webhook_deliveries')
    .updateOne({ _id: newest?.id ?? '' }, [{ $set: { updated_at: '$created_at' } }]);
  await until('all is told', async () => (await notificationsPending()) === 0);
}

/** Joins a member, by an access token. */
async function member(): Promise<{ token: string; id: string }> {
  const email = `${newId()}@example.com`;
  const { token } = (
    await home.app.request('POST', '/members/invitations', { as: ada.token, body: { email } })
  ).body;
  const accepted = { token, name: 'Guest', password: 'correct horse battery staple' };
  const { body } = await home.app.request('POST', '/members/invitations/accept', { body: accepted });
  return { token: body.access_token, id: body.member.id };
}

describe('failure notifications', () => {
  test('only the creator is notified when a delivery fails its last attempt', async () => {
    const guest = await member();
    const { id } = await home.createWebhook({ ...ada, key: guest.token }, there.url);
    await home.publish(ada);
    await home.untilSettled(ada, 1);
    const [item] = await told(1, guest.token);
    expect(item).toMatchObject({
      type: 'webhook.exhausted',
      title: 'A delivery to the webhook “Hook” failed',
      data: {
        ...{ webhook_id: id, webhook_name: 'Hook', failed: 1 },
        ...{ last_event_type: 'document.published', last_error: 'status_500' },
      },
    });
    expect(await inbox(ada.token)).toEqual([]);
    expect(await isActive(id)).toBe(true);
  });

  test('an unread notification adds up failures, at most once a minute', async () => {
    const replica = await home.app.replica();
    const { id } = await home.createWebhook(ada, there.url);
    ahead = -600;
    for (let count = 0; count < 3; count += 1) await home.publish(ada);
    await home.untilSettled(ada, 3);
    const [first] = await until('the first item', async () => {
      const items = await inbox(ada.token);
      return items.length > 0 && items;
    });
    expect(first?.data.failed).toBeLessThanOrEqual(3);
    for (let count = 3; count < 6; count += 1)
      await replica.request('POST', '/webhooks/events/redeliver', {
        as: ada.key,
        body: { config_id: id, since: '2026-01-01T00:00:00Z' },
      });
    await until('they failed', async () => (await home.log(ada)).every((one) => one.status === 'failed'));
    const failures = (await home.log(ada)).length;
    // the rest waits until the minute is over: a failure of another webhook that comes later is told before
    await home.createWebhook(ada, there.url, ['document.assigned']);
    const { id: assigned } = (
      await home.app.request('POST', '/documents', { as: ada.key, body: { title: 'SOP' } })
    ).body;
    const editor = { as: ada.key, body: { editor_id: ada.userId } };
    await home.app.request('PATCH', `/documents/${assigned}/editor`, editor);
    const both = await until('the other webhook', async () => {
      const items = await inbox(ada.token);
      return items.length === 2 && items;
    });
    expect(both[1]?.data.failed).toBe(first?.data.failed);
    ahead = -500;
    const added = await until('the sum', async () =>
      (await inbox(ada.token)).find(({ data }) => data.failed === failures),
    );
    expect(added).toMatchObject({ title: `${failures} deliveries to the webhook “Hook” failed` });
    await home.app.request('POST', '/inbox/read-all', { as: ada.token });
    ahead = -400;
    await home.publish(ada);
    expect((await told(3))[0]).toMatchObject({ data: { failed: 1 } });
  }, 30_000);

  test('more than a thousand failures are added up in one notification', async () => {
    ahead = -600;
    const { id } = await home.createWebhook(ada, there.url);
    await home.publish(ada);
    await told(1);
    const rows = home.app.db.collection<{ _id: string; [field: string]: unknown }>('webhook_deliveries');
    const row = await rows.findOne({ config_id: id });
    const clone = { ...row, is_first: false, notification_pending: true };
    await rows.insertMany(Array.from({ length: 1_200 }, () => ({ ...clone, _id: newId() })));
    ahead = -500;
    expect(await told(1)).toMatchObject([{ data: { failed: expect.any(Number) } }]);
    await until('the sum', async () => (await inbox(ada.token))[0]?.data.failed === 1_201);
    expect(await inbox(ada.token)).toHaveLength(1);
  });

  test('a 410 notifies the creator once that the webhook was disabled', async () => {
    status = 410;
    const { id } = await home.createWebhook(ada, there.url);
    await home.publish(ada);
    await home.untilSettled(ada, 1);
    expect(await told(1)).toMatchObject([
      {
        type: 'webhook.disabled',
        title: 'The webhook “Hook” was switched off: its receiver answered that it is gone (410)',
        data: { webhook_id: id, webhook_name: 'Hook', reason: 'gone' },
      },
    ]);
    expect(await isActive(id)).toBe(false);
  });

  test('admins are notified if the creator has left the organization', async () => {
    const guest = await member();
    await home.createWebhook({ ...ada, key: guest.token }, there.url);
    await home.app.request('DELETE', `/members/${guest.id}`, { as: ada.token });
    await home.publish(ada);
    expect(await told(1)).toMatchObject([{ type: 'webhook.exhausted' }]);
  });

  test('failed tests and unsendable deliveries cause no notification', async () => {
    const { id } = await home.createWebhook(ada, there.url);
    await home.app.request('POST', `/webhooks/${id}/test`, { as: ada.key });
    await home.app.db
      .collection<{ _id: string }>('webhook_configs')
      .updateOne({ _id: id }, { $set: { 'secrets.0.sealed': 'gone.key.x' } });
    await home.publish(ada);
    expect(await home.untilSettled(ada, 2)).toMatchObject([{ error: 'secret_unreadable' }, {}]);
    expect(await notificationsPending()).toBe(0);
    expect(await inbox(ada.token)).toEqual([]);
  });
});

describe('disabling a failing webhook', () => {
  test('a webhook is disabled once after five days of failures', async () => {
    await home.app.replica();
    ahead = -7 * day;
    const { id } = await home.createWebhook(ada, there.url);
    await publish(5.1);
    await publish(3);
    expect(await isActive(id)).toBe(true);
    await home.app.restart();
    // a test that succeeds is no delivery
    status = 200;
    await home.app.request('POST', `/webhooks/${id}/test`, { as: ada.key });
    await publish(0);
    expect(await isActive(id)).toBe(false);
    const items = await told(2);
    expect(items).toMatchObject([
      {
        type: 'webhook.disabled',
        title: 'The webhook “Hook” was switched off: all deliveries failed for five days',
        data: { webhook_id: id, reason: 'failing' },
      },
      { type: 'webhook.exhausted', data: { failed: 2 } },
    ]);
  }, 30_000);

  test('a webhook stays active before five days, and after a success', async () => {
    ahead = -9 * day;
    const { id } = await home.createWebhook(ada, there.url);
    await publish(8, 'failed');
    await publish(5.2, 'delivered');
    await publish(4.9, 'failed');
    ahead = 0;
    expect(await isActive(id)).toBe(true);
    await publish(0, 'failed');
    expect(await isActive(id)).toBe(true);
  }, 30_000);

  test.each([
    ['switched on again', [{ is_active: false }, { is_active: true }]],
    ['given another URL', [{ url: 'http://localhost:9/elsewhere' }]],
  ])(
    'the five days start again if the webhook %s',
    async (_, changes) => {
      ahead = -6 * day;
      const { id } = await home.createWebhook(ada, there.url);
      await publish(5.5);
      ahead = -0.1 * day;
      for (const change of changes) expect((await patch(id, change)).status).toBe(200);
      await publish(0);
      expect(await isActive(id)).toBe(true);
    },
    30_000,
  );
});

/** Tests failure notifications and the disabling of failing webhooks, over HTTP with real receivers. */
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import { addMember, type Person, until, type WebhookReceiver, webhookReceiver } from '#libs/testing';
import { documents } from '../../documents/service.ts';
import { identity } from '../../testing/services.ts';
import { webhookDelivery } from '../service.ts';
import { type TestContext, testContext } from '../testing/test-context.ts';

const day = 86_400;

interface Item {
  id: string;
  type: string;
  title: string;
  data: { [field: string]: unknown };
}

let context: TestContext;
let ada: Person;
let receiver: WebhookReceiver;
let status: number;
/** Offset of the services' clock, in seconds; never positive, because MongoDB uses the real clock. */
let clockOffsetS = 0;
/** While it is set, the services' clock stands still: at this time, plus the offset. */
let frozenMs: number | undefined;

beforeAll(async () => {
  const clock = () => new Date((frozenMs ?? Date.now()) + clockOffsetS * 1000);
  context = await testContext(
    [identity, documents, webhookDelivery],
    // no retries
    { WEBHOOK_RETRY_SCHEDULE_SECONDS: ',' },
    clock,
  );
});
beforeEach(async () => {
  ada = await context.createTenant();
  status = 500;
  receiver = await webhookReceiver(() => status);
});
afterEach(async () => {
  clockOffsetS = 0;
  frozenMs = undefined;
  await receiver.close();
});
afterAll(() => context?.app.stop());

const inbox = async (as: string): Promise<Item[]> =>
  (await context.app.request('GET', '/inbox', { as })).body.filter(({ type }: Item) =>
    type.startsWith('webhook.'),
  );
const isActive = async (id: string) =>
  (await context.app.request('GET', `/webhooks/${id}`, { as: ada.key })).body.is_active;
const patch = (id: string, body: unknown) =>
  context.app.request('PATCH', `/webhooks/${id}`, { as: ada.key, body });
const notificationsPending = () =>
  context.app.db.collection('webhook_deliveries').countDocuments({ notification_pending: true });

/** Waits for this number of webhook notifications and no pending ones, and returns them. */
const untilNotified = (count: number, as = ada.token): Promise<Item[]> =>
  until(`${count} items`, async () => {
    const items = await inbox(as);
    return items.length === count && (await notificationsPending()) === 0 && items;
  });

/** Publishes a document some days ago, and waits for its delivery and notification. */
async function publish(daysAgo: number, expected: 'delivered' | 'failed' = 'failed'): Promise<void> {
  clockOffsetS = -daysAgo * day;
  status = expected === 'failed' ? 500 : 200;
  const before = (await context.log(ada)).length;
  await context.publish(ada);
  const [newest] = await context.untilSettled(ada, before + 1);
  expect(newest?.status).toBe(expected);
  // MongoDB sets updated_at from its own clock, so it is moved back too
  await context.app.db
    .collection<{ _id: string }>('webhook_deliveries')
    .updateOne({ _id: newest?.id ?? '' }, [{ $set: { updated_at: '$created_at' } }]);
  await until('all failures to be notified', async () => (await notificationsPending()) === 0);
}

describe('failure notifications', () => {
  test('only the creator is notified when a delivery fails its last attempt', async () => {
    const guest = await addMember(context.app, ada.token);
    const { id } = await context.createWebhook({ ...ada, key: guest.token }, receiver.url);
    await context.publish(ada);
    await context.untilSettled(ada, 1);
    const [item] = await untilNotified(1, guest.token);
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
    const replica = await context.app.replica();
    const { id } = await context.createWebhook(ada, receiver.url);
    clockOffsetS = -600;
    // the test may take more than a minute on a slow machine
    frozenMs = Date.now();
    for (let count = 0; count < 3; count += 1) await context.publish(ada);
    await context.untilSettled(ada, 3);
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
    await until('all to fail', async () =>
      (await context.log(ada)).every(({ status }) => status === 'failed'),
    );
    const failures = (await context.log(ada)).length;
    // further failures wait for the end of the minute, but a failure of another webhook is notified at once
    await context.createWebhook(ada, receiver.url, ['document.assigned']);
    const { id: documentId } = (
      await context.app.request('POST', '/documents', { as: ada.key, body: { title: 'SOP' } })
    ).body;
    const editor = { as: ada.key, body: { editor_id: ada.userId } };
    await context.app.request('PATCH', `/documents/${documentId}/editor`, editor);
    const both = await until('the notification of the other webhook', async () => {
      const items = await inbox(ada.token);
      return items.length === 2 && items;
    });
    expect(both[1]?.data.failed).toBe(first?.data.failed);
    clockOffsetS = -500;
    const added = await until('the sum', async () =>
      (await inbox(ada.token)).find(({ data }) => data.failed === failures),
    );
    expect(added).toMatchObject({ title: `${failures} deliveries to the webhook “Hook” failed` });
    await context.app.request('POST', '/inbox/read-all', { as: ada.token });
    clockOffsetS = -400;
    await context.publish(ada);
    expect((await untilNotified(3))[0]).toMatchObject({ data: { failed: 1 } });
  });

  test('more than a thousand failures are added up in one notification', async () => {
    clockOffsetS = -600;
    const { id } = await context.createWebhook(ada, receiver.url);
    await context.publish(ada);
    await untilNotified(1);
    const rows = context.app.db.collection<{ _id: string; [field: string]: unknown }>('webhook_deliveries');
    const row = await rows.findOne({ config_id: id });
    const clone = { ...row, is_first: false, notification_pending: true };
    await rows.insertMany(Array.from({ length: 1_200 }, () => ({ ...clone, _id: newId() })));
    clockOffsetS = -500;
    expect(await untilNotified(1)).toMatchObject([{ data: { failed: expect.any(Number) } }]);
    await until('the sum', async () => (await inbox(ada.token))[0]?.data.failed === 1_201);
    expect(await inbox(ada.token)).toHaveLength(1);
  });

  test('an error for one webhook does not keep others from being reported', async () => {
    const [broken, other] = [
      await context.createWebhook(ada, receiver.url),
      await context.createWebhook(ada, receiver.url),
    ];
    const validator = { $nor: [{ type: 'webhook.exhausted', event: { $regex: broken.id } }] };
    await context.app.db.command({ collMod: 'webhook_delivery_outbox', validator });
    try {
      await context.publish(ada);
      const [item] = await until('one item', async () => {
        const items = await inbox(ada.token);
        return items.length > 0 && items;
      });
      expect(item?.data.webhook_id).toBe(other.id);
    } finally {
      await context.app.db.command({ collMod: 'webhook_delivery_outbox', validator: {} });
    }
    expect(await untilNotified(2)).toHaveLength(2);
  });

  test('a 410 notifies the creator once that the webhook was disabled', async () => {
    status = 410;
    const { id } = await context.createWebhook(ada, receiver.url);
    await context.publish(ada);
    await context.untilSettled(ada, 1);
    expect(await untilNotified(1)).toMatchObject([
      {
        type: 'webhook.disabled',
        title: 'The webhook “Hook” was disabled: its receiver responded with 410 Gone',
        data: { webhook_id: id, webhook_name: 'Hook', reason: 'gone' },
      },
    ]);
    expect(await isActive(id)).toBe(false);
  });

  test('admins are notified if the creator has left the organization', async () => {
    const guest = await addMember(context.app, ada.token);
    await context.createWebhook({ ...ada, key: guest.token }, receiver.url);
    await context.app.request('DELETE', `/members/${guest.userId}`, { as: ada.token });
    await context.publish(ada);
    expect(await untilNotified(1)).toMatchObject([{ type: 'webhook.exhausted' }]);
  });

  test('failed tests and unsendable deliveries cause no notification', async () => {
    const { id } = await context.createWebhook(ada, receiver.url);
    await context.app.request('POST', `/webhooks/${id}/test`, { as: ada.key });
    await context.app.db
      .collection<{ _id: string }>('webhook_configs')
      .updateOne({ _id: id }, { $set: { 'secrets.0.sealed': 'gone.key.x' } });
    await context.publish(ada);
    expect(await context.untilSettled(ada, 2)).toMatchObject([{ error: 'secret_unreadable' }, {}]);
    expect(await notificationsPending()).toBe(0);
    expect(await inbox(ada.token)).toEqual([]);
  });
});

describe('disabling a failing webhook', () => {
  test('a webhook is disabled once after five days of failures', async () => {
    await context.app.replica();
    clockOffsetS = -7 * day;
    const { id } = await context.createWebhook(ada, receiver.url);
    await publish(5.1);
    await publish(3);
    expect(await isActive(id)).toBe(true);
    await context.app.restart();
    // a successful test does not count as a delivery
    status = 200;
    await context.app.request('POST', `/webhooks/${id}/test`, { as: ada.key });
    await publish(0);
    expect(await isActive(id)).toBe(false);
    const items = await untilNotified(2);
    expect(items).toMatchObject([
      {
        type: 'webhook.disabled',
        title: 'The webhook “Hook” was disabled: all deliveries failed for five days',
        data: { webhook_id: id, reason: 'failing' },
      },
      { type: 'webhook.exhausted', data: { failed: 2 } },
    ]);
  });

  test('a webhook stays active before five days, and after a success', async () => {
    clockOffsetS = -9 * day;
    const { id } = await context.createWebhook(ada, receiver.url);
    await publish(8, 'failed');
    await publish(5.2, 'delivered');
    await publish(4.9, 'failed');
    clockOffsetS = 0;
    expect(await isActive(id)).toBe(true);
    await publish(0, 'failed');
    expect(await isActive(id)).toBe(true);
  });

  test.each([
    ['is reactivated', [{ is_active: false }, { is_active: true }]],
    ['gets another URL', [{ url: 'http://localhost:9/elsewhere' }]],
  ])('the five days start again if the webhook %s', async (_, changes) => {
    clockOffsetS = -6 * day;
    const { id } = await context.createWebhook(ada, receiver.url);
    await publish(5.5);
    clockOffsetS = -0.1 * day;
    for (const change of changes) expect((await patch(id, change)).status).toBe(200);
    await publish(0);
    expect(await isActive(id)).toBe(true);
  });
});

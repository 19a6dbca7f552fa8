/** F14: the effect of each kind of response on its delivery, from the event to the log. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Reply, until, type WebhookReceiver, webhookReceiver } from '#libs/testing';
import { documents } from '../../services/documents/service.ts';
import { identity } from '../../services/testing/services.ts';
import { webhookDelivery } from '../../services/webhook-delivery/service.ts';
import { type TestContext, testContext } from '../../services/webhook-delivery/testing/test-context.ts';
import { findDatabaseViolations } from './violations.ts';

let context: TestContext;
let receiver: WebhookReceiver;
let inside: WebhookReceiver;
const replies = new Map<string, Reply>();

beforeAll(async () => {
  const pauses = { WEBHOOK_RETRY_SCHEDULE_SECONDS: '90,1800' };
  [context, receiver, inside] = await Promise.all([
    testContext([identity, documents, webhookDelivery], pauses),
    webhookReceiver(({ path }) => replies.get(path.slice(1)) ?? 500),
    webhookReceiver(),
  ]);
});
afterAll(async () => {
  await context?.app.stop();
  await Promise.all([receiver?.close(), inside?.close()]);
});

const busy = (status: number, after: string): Reply => ({ status, headers: { 'retry-after': after } });
const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1000).toUTCString();
/** The pause of the settings, 90 s, with up to 20 % jitter, s. */
const defaultPause = [90, 108];

test('F14: redirects, 410 and Retry-After have their documented effect', async () => {
  const cases: [string, Reply, number[]][] = [
    ['500 with 120 s', busy(500, '120'), defaultPause],
    ['429 with 120 s', busy(429, '120'), [120, 120]],
    ['503 with 120 s', busy(503, '120'), [120, 120]],
    ['503 with 5 s, which is shorter than the default pause', busy(503, '5'), defaultPause],
    ['503 with a date', busy(503, inSeconds(3_000)), [1_000, 3_000]],
    ['503 with a past date', busy(503, inSeconds(-200)), defaultPause],
    ['503 with a year', busy(503, '31536000'), [3_600, 3_600]],
    ['503 with an absurd number', busy(503, '9'.repeat(400)), [3_600, 3_600]],
    ['503 with a date in a hundred years', busy(503, 'Fri, 21 Nov 2126 09:32:00 GMT'), [3_600, 3_600]],
    ['503 with garbage', busy(503, 'soon; 99'), defaultPause],
    ['302 to this machine', { status: 302, headers: { location: inside.url } }, defaultPause],
    ['307 to this machine', { status: 307, headers: { location: inside.url } }, defaultPause],
    ['308 to this machine', { status: 308, headers: { location: inside.url } }, defaultPause],
  ];
  const ada = await context.createTenant();
  const { origin } = new URL(receiver.url);
  const hooks = new Map<string, string>();
  for (const [at, [name, reply]] of cases.entries()) {
    replies.set(`case-${at}`, reply);
    hooks.set(name, (await context.createWebhook(ada, `${origin}/case-${at}`)).id);
  }
  replies.set('gone', 410);
  const gone = await context.createWebhook(ada, `${origin}/gone`);
  await context.publish(ada);
  const log = await until('the first attempts', async () => {
    const entries = await context.log(ada);
    const isOver = entries.every(({ http_status }) => http_status !== null);
    return entries.length === cases.length + 1 && isOver && entries;
  });
  const findEntry = (id?: string) => log.find(({ config_id }) => config_id === id);

  const wrong = cases.flatMap(([name, , [least = 0, most = 0]]) => {
    const entry = findEntry(hooks.get(name));
    const { status, attempts } = entry ?? {};
    const seconds =
      (Date.parse(String(entry?.next_attempt_at)) - Date.parse(String(entry?.updated_at))) / 1000;
    const isExpected =
      status === 'pending' && attempts === 1 && seconds >= least - 0.1 && seconds <= most + 0.1;
    return isExpected ? [] : [`${name}: ${status} after ${attempts} attempts, next in ${seconds} s`];
  });
  expect(wrong).toEqual([]);
  expect(findEntry(gone.id)).toMatchObject({
    status: 'failed',
    attempts: 1,
    error: 'status_410',
    next_attempt_at: null,
  });
  const findDisabled = async () => {
    const webhooks: { id: string; is_active: boolean }[] = (
      await context.app.request('GET', '/webhooks', { as: ada.key })
    ).body;
    const disabled = webhooks.filter(({ is_active }) => !is_active);
    return disabled.length > 0 && disabled.map(({ id }) => id);
  };
  expect(await until('a disabled webhook', findDisabled)).toEqual([gone.id]);
  expect(receiver.received).toHaveLength(cases.length + 1);
  expect(inside.received).toEqual([]);
  expect(await findDatabaseViolations(context.app.db)).toEqual([]);
});

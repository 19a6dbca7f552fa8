/** F14: what each answer makes of its delivery, from the event to the log. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { until } from '#libs/testing';
import { documents } from '../../services/documents/service.ts';
import { identity } from '../../services/identity/service.ts';
import { webhookDelivery } from '../../services/webhook-delivery/service.ts';
import {
  type Reply,
  type WebhookReceiver,
  webhookReceiver,
} from '../../services/webhook-delivery/testing/receiver.ts';
import { type TestContext, testContext } from '../../services/webhook-delivery/testing/test-context.ts';

let context: TestContext;
let receiver: WebhookReceiver;
let inside: WebhookReceiver;
const replies = new Map<string, Reply>();

beforeAll(async () => {
  const pauses = { WEBHOOK_RETRY_SCHEDULE_SECONDS: '30,1800' };
  [context, receiver, inside] = await Promise.all([
    testContext([identity, documents, webhookDelivery], pauses),
    webhookReceiver(({ path }) => replies.get(path.slice(1)) ?? 500),
    webhookReceiver(),
  ]);
}, 60_000);
afterAll(async () => {
  await context?.app.stop();
  await Promise.all([receiver?.close(), inside?.close()]);
});

const busy = (status: number, after: string): Reply => ({ status, headers: { 'retry-after': after } });
const inSeconds = (seconds: number) => new Date(Date.now() + seconds * 1000).toUTCString();
/** The usual pause of 30 s, to which up to a fifth is added. */
const usual = [30, 36];

test('F14: redirects, 410 and every kind of Retry-After end as it was decided', async () => {
  const cases: [string, Reply, number[]][] = [
    ['500 with 120 s', busy(500, '120'), usual],
    ['429 with 120 s', busy(429, '120'), [120, 120]],
    ['503 with 120 s', busy(503, '120'), [120, 120]],
    ['503 with 5 s, which is sooner than the usual pause', busy(503, '5'), usual],
    ['503 with a date', busy(503, inSeconds(200)), [180, 200]],
    ['503 with a date that is past', busy(503, inSeconds(-200)), usual],
    ['503 with a year', busy(503, '31536000'), [3_600, 3_600]],
    ['503 with an absurd number', busy(503, '9'.repeat(400)), [3_600, 3_600]],
    ['503 with a date in a hundred years', busy(503, 'Fri, 21 Nov 2126 09:32:00 GMT'), [3_600, 3_600]],
    ['503 with garbage', busy(503, 'soon; 99'), usual],
    ['302 to this machine', { status: 302, headers: { location: inside.url } }, usual],
    ['307 to this machine', { status: 307, headers: { location: inside.url } }, usual],
    ['308 to this machine', { status: 308, headers: { location: inside.url } }, usual],
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
  const log = await until('a first attempt of each', async () => {
    const entries = await context.log(ada);
    const isOver = entries.every(({ http_status }) => http_status !== null);
    return entries.length === cases.length + 1 && isOver && entries;
  });
  const entryOf = (id?: string) => log.find(({ config_id }) => config_id === id);

  const wrong = cases.flatMap(([name, , [least = 0, most = 0]]) => {
    const entry = entryOf(hooks.get(name));
    const { status, attempts } = entry ?? {};
    const seconds =
      (Date.parse(String(entry?.next_attempt_at)) - Date.parse(String(entry?.updated_at))) / 1000;
    const isAsDecided =
      status === 'pending' && attempts === 1 && seconds >= least - 0.1 && seconds <= most + 0.1;
    return isAsDecided ? [] : [`${name}: ${status} after ${attempts} attempts, next in ${seconds} s`];
  });
  expect(wrong).toEqual([]);
  expect(entryOf(gone.id)).toMatchObject({
    status: 'failed',
    attempts: 1,
    error: 'status_410',
    next_attempt_at: null,
  });
  const isOff = async () => {
    const webhooks: { id: string; is_active: boolean }[] = (
      await context.app.request('GET', '/webhooks', { as: ada.key })
    ).body;
    const off = webhooks.filter(({ is_active }) => !is_active);
    return off.length > 0 && off.map(({ id }) => id);
  };
  expect(await until('a webhook that is off', isOff)).toEqual([gone.id]);
  expect(receiver.received).toHaveLength(cases.length + 1);
  expect(inside.received).toEqual([]);
});

/** What operators are told of deliveries. */
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { until } from '#libs/testing';
import { documents } from '../documents/service.ts';
import { identity } from '../identity/service.ts';
import { webhookDelivery } from './service.ts';
import { type Responder, webhookReceiver } from './testing/receiver.ts';
import { type TestContext, testContext } from './testing/test-context.ts';

let home: TestContext;
const open: { close(): Promise<void> }[] = [];

beforeAll(async () => {
  home = await testContext([identity, documents, webhookDelivery]);
}, 60_000);
afterAll(() => home?.app.stop());
afterEach(async () => {
  for (const one of open.splice(0)) await one.close();
});

async function receiving(answering?: Responder) {
  const made = await webhookReceiver(answering);
  open.push(made);
  return made;
}

test('the metrics count attempts and finished deliveries', async () => {
  const counts = async () => {
    const page = await (await fetch(`${home.app.management}/metrics`)).text();
    const of = (name: string) => Number(new RegExp(`^${name} (\\d+)$`, 'm').exec(page)?.[1] ?? 0);
    const labels = (label: string) => `\\{service="webhook-delivery",${label}\\}`;
    const attempts = (status: string) =>
      of(`webhook_attempt_duration_seconds_count${labels(`status_class="${status}"`)}`);
    const ends = (status: string) => of(`webhook_deliveries_total${labels(`status="${status}"`)}`);
    return [attempts('2xx'), attempts('5xx'), ends('delivered'), ends('failed')];
  };
  const ada = await home.createTenant();
  const before = await counts();
  const [failing, healthy] = [await receiving(() => 500), await receiving()];
  await home.createWebhook(ada, failing.url);
  await home.createWebhook(ada, healthy.url);
  await home.publish(ada);
  await home.untilSettled(ada, 2);
  const after = await until('the counts', async () => {
    const now = await counts();
    return now[3] !== before[3] && now;
  });
  expect(after.map((count, at) => count - (before[at] ?? 0))).toEqual([1, 3, 1, 1]);
});

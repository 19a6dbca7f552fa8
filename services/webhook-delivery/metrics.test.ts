/** Tests the metrics of webhook deliveries. */
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { type Responder, readSeries, sumSeries, until, webhookReceiver } from '#libs/testing';
import { documents } from '../documents/service.ts';
import { identity } from '../testing/services.ts';
import { webhookDelivery } from './service.ts';
import { type TestContext, testContext } from './testing/test-context.ts';

let context: TestContext;
const open: { close(): Promise<void> }[] = [];

beforeAll(async () => {
  context = await testContext([identity, documents, webhookDelivery]);
});
afterAll(() => context?.app.stop());
afterEach(async () => {
  for (const receiver of open.splice(0)) await receiver.close();
});

async function startReceiver(respond?: Responder) {
  const receiver = await webhookReceiver(respond);
  open.push(receiver);
  return receiver;
}

test('the metrics count attempts and finished deliveries', async () => {
  const counts = async () => {
    const series = await readSeries(context.app.management);
    const service = 'webhook-delivery';
    const attempts = (status_class: string) =>
      sumSeries(series, 'webhook_attempt_duration_seconds_count', { service, status_class });
    const finished = (status: string) => sumSeries(series, 'webhook_deliveries_total', { service, status });
    return [attempts('2xx'), attempts('5xx'), finished('delivered'), finished('failed')];
  };
  const ada = await context.createTenant();
  const before = await counts();
  const [failing, healthy] = [await startReceiver(() => 500), await startReceiver()];
  await context.createWebhook(ada, failing.url);
  await context.createWebhook(ada, healthy.url);
  await context.publish(ada);
  await context.untilSettled(ada, 2);
  const after = await until('the counts', async () => {
    const now = await counts();
    return now[3] !== before[3] && now;
  });
  expect(after.map((count, at) => count - (before[at] ?? 0))).toEqual([1, 3, 1, 1]);
});

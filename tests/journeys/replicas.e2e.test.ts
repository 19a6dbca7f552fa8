/** Tests two replicas of every service: they start together on an empty database and share the work. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import {
  apiClient,
  createDocument,
  createWebhook,
  must,
  publishDocument,
  readMetric,
  register,
  until,
  untilReady,
  type WebhookReceiver,
  webhookReceiver,
} from '#libs/testing';
import { type FiveProcesses, fiveProcesses } from '../five-processes.ts';

const documentCount = 40;
let receiver: WebhookReceiver;
let five: FiveProcesses;

beforeAll(async () => {
  receiver = await webhookReceiver();
  five = await fiveProcesses('node', { replicas: 2 });
});

afterAll(async () => {
  await receiver?.close();
  await five?.stop();
});

test('both replicas of every service are ready', async () => {
  expect(five.services).toHaveLength(10);
  for (const { management } of five.services) await untilReady(management);
});

test('each event is delivered once, and both replicas handle events', async () => {
  const key = await createSubscriber();
  const writers = five.services.filter(({ name }) => name === 'documents');
  const publishes = Array.from({ length: documentCount }, async (_, at) => {
    // created at one replica, published at the other
    const [first, second] = at % 2 === 0 ? writers : writers.toReversed();
    const { id } = await createDocument(apiClient(`${first?.origin}`), key);
    await must(apiClient(`${second?.origin}`), 'POST', `/documents/${id}/publish`, { as: key });
  });
  await Promise.all(publishes);
  await until('every event', async () => countArrived() === documentCount);

  const senders = five.services.filter(({ name }) => name === 'webhook-delivery');
  const published = { type: 'document.published' };
  const handled = await Promise.all(
    senders.map(({ management }) => readMetric(management, 'events_handled_total', published)),
  );
  expect(Math.min(...handled)).toBeGreaterThan(0);
  expect(handled.reduce((sum, count) => sum + count)).toBe(documentCount);
  // a duplicate would have come from the other replica at the same time
  expect(receiver.received).toHaveLength(documentCount);
});

test('one replica of each service can stop without losing events', async () => {
  const key = await createSubscriber();
  const before = countArrived();
  const stopping = five.services.filter(
    (one, at, all) => all.findIndex(({ name }) => name === one.name) !== at,
  );
  const stopped = stopping.map(({ process, exited }) => {
    process.kill('SIGTERM');
    return exited;
  });
  for (let at = 0; at < 10; at += 1) await publishDocument(apiClient(five.origin), key);
  expect(await Promise.all(stopped)).toEqual([0, 0, 0, 0, 0]);
  await until('every later event', async () => countArrived() === before + 10);
});

/** Registers an organization with a webhook. Returns its API key. */
async function createSubscriber(): Promise<string> {
  const api = apiClient(five.origin);
  const { key } = await register(api);
  await createWebhook(api, key, receiver.url);
  return key;
}

/** The number of different events that have arrived. */
function countArrived(): number {
  return new Set(receiver.received.map(({ headers }) => headers['webhook-id'])).size;
}

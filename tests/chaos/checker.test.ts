/** Tests that the checker finds a fabricated violation of each invariant, and none in valid observations. */
import { createHmac } from 'node:crypto';
import { expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { newId } from '#libs/contract';
import { formatSecret } from '../../services/webhook-delivery/rules/signature.ts';
import { checkInvariants, type LogEntry, type Observations, type Post } from './checker.ts';

const secret = formatSecret(new Uint8Array(32).fill(7));
const webhook = newId();
const at = Date.parse('2026-11-21T10:00:00Z');

/** A valid POST with a response after 10 ms. */
function post(
  event: string,
  delivery: string,
  {
    at: receivedAt = at,
    status = 204,
    body = JSON.stringify({ id: event, data: {} }),
  }: { at?: number; status?: number; body?: string } = {},
): Post {
  const time = new Date(Math.floor(receivedAt / 1000) * 1000);
  const headers = {
    'webhook-id': event,
    'webhook-timestamp': String(time.getTime() / 1000),
    'webhook-signature': new Webhook(secret).sign(event, time, body),
    'x-service-delivery': delivery,
    'x-service-signature': `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`,
  };
  return { webhook, headers, body, at: receivedAt, response: { status, at: receivedAt + 10 } };
}

const [event, delivery] = [newId(), newId()];
const delivered: LogEntry = {
  id: delivery,
  event_id: event,
  config_id: webhook,
  status: 'delivered',
  attempts: 1,
  error: null,
};

/** Observations of one event that was delivered correctly, with the given changes. */
function createObservations(options: Partial<Observations> & { row?: Partial<LogEntry> } = {}): Observations {
  const rows = options.rows ?? [{ ...delivered, ...options.row }];
  return {
    accepted: [{ id: event, webhooks: [webhook] }],
    posts: [post(event, delivery)],
    entries: rows,
    secrets: new Map([[webhook, [secret]]]),
    outages: [],
    deadlineMs: 10_000,
    ...options,
    rows,
  };
}

const check = (options: Parameters<typeof createObservations>[0]) =>
  checkInvariants(createObservations(options));
const failing = { status: 500 };

test('the checker finds nothing if every invariant holds', () => {
  expect(check({})).toEqual([]);
  const tries = [post(event, delivery, failing), post(event, delivery, { ...failing, at: at + 1_000 })];
  const last = post(event, delivery, { at: at + 3_000 });
  expect(check({ posts: [...tries, last], row: { attempts: 3 } })).toEqual([]);
  expect(check({ posts: tries, row: { status: 'failed', attempts: 3, error: 'interrupted' } })).toEqual([]);
});

test('I1: an event is missing in the log or stays pending', () => {
  expect(check({ rows: [], posts: [] })).toEqual([
    `I1: event ${event} was accepted and is not in the log of webhook ${webhook}`,
  ]);
  expect(check({ row: { status: 'pending', attempts: 0 }, posts: [] })).toEqual([
    `I1: event ${event}: delivery ${delivery} is still pending after 0 attempts`,
  ]);
  const other = newId();
  expect(check({ accepted: [{ id: event, webhooks: [webhook, other] }] })).toEqual([
    `I1: event ${event} was accepted and is not in the log of webhook ${other}`,
  ]);
});

test('I2: a delivery has four POSTs', () => {
  const posts = [0, 1, 2, 3].map((number) => post(event, delivery, { ...failing, at: at + 1_000 * number }));
  expect(check({ posts, row: { status: 'failed', attempts: 4 } })).toEqual([
    `I2: event ${event}: delivery ${delivery} was sent 4 times`,
  ]);
});

test('I3: the status contradicts the responses, or a POST follows a 2xx', () => {
  expect(check({ posts: [post(event, delivery, failing)] })).toEqual([
    `I3: event ${event}: delivery ${delivery} is delivered and no 2xx was served`,
  ]);
  expect(check({ row: { status: 'failed' } })).toEqual([
    `I3: event ${event}: delivery ${delivery} was answered with 2xx, no process was killed, and it is failed`,
  ]);
  const twice = [post(event, delivery), post(event, delivery, { at: at + 30_000 })];
  const again = `I3: event ${event}: delivery ${delivery} was answered with 2xx, no process was killed, and it was sent 1 times more`;
  expect(check({ posts: twice, row: { attempts: 2 } })).toEqual([again]);
  // an outage before the POST, or long after its response, does not excuse it
  const elsewhere = [
    { from: at - 9_000, until: at - 5_000 },
    { from: at + 2_000_000, until: at + 2_500_000 },
  ];
  expect(check({ posts: twice, row: { attempts: 2 }, outages: elsewhere })).toEqual([again]);
});

test('I3: a killed process or a late response is no violation', () => {
  const twice = [post(event, delivery), post(event, delivery, { at: at + 30_000 })];
  const outages = [{ from: at + 500, until: at + 5_000 }];
  expect(check({ posts: twice, row: { attempts: 2 }, outages })).toEqual([]);
  const late = { ...post(event, delivery), response: { status: 200, at: at + 11_000 } };
  expect(check({ posts: [late], row: { status: 'failed', error: 'timeout' } })).toEqual([]);
});

test('I4: a repeated POST has other bytes, another id or another event', () => {
  const spaced = post(event, delivery, { at: at + 1_000, body: JSON.stringify({ id: event, data: 1 }) });
  expect(check({ posts: [post(event, delivery, failing), spaced], row: { attempts: 2 } })).toEqual([
    `I4: event ${event} came with other bytes than before`,
  ]);
  const stranger = post(event, delivery, { body: JSON.stringify({ id: 'other' }) });
  expect(check({ posts: [stranger] })).toEqual([`I4: event other came with webhook-id ${event}`]);
  const second = newId();
  const accepted = [event, second].map((id) => ({ id, webhooks: id === event ? [webhook] : [] }));
  const posts = [post(event, delivery, failing), post(second, delivery, { at: at + 1_000 })];
  expect(check({ accepted, posts, row: { attempts: 2 } })).toEqual([
    `I4: delivery ${delivery} came for event ${event}, then for event ${second}`,
  ]);
});

test('I5: there are more POSTs than the log counts, or unknown deliveries', () => {
  const posts = [post(event, delivery, failing), post(event, delivery, { at: at + 1_000 })];
  expect(check({ posts })).toEqual([
    `I5: event ${event}: delivery ${delivery} was sent 2 times, its log counts 1`,
  ]);
  const unknown = newId();
  expect(check({ posts: [post(event, delivery), post(event, unknown)] })).toEqual([
    `I5: event ${event}: delivery ${unknown} was sent and is not in the log`,
  ]);
  expect(check({ row: { event_id: 'other' }, accepted: [{ id: event, webhooks: [] }] })).toEqual([
    `I5: delivery ${delivery} was sent for ${event}, its entry is for other`,
  ]);
});

test('I6: a POST is sent for an event that does not exist', () => {
  expect(check({ accepted: [] })).toEqual([`I6: event ${event} was sent and does not exist`]);
});

test('a signature is of another secret or another time', () => {
  const good = post(event, delivery);
  const withHeaders = (headers: Post['headers']) => [{ ...good, headers: { ...good.headers, ...headers } }];
  const [ours, standard] = ['X-Service-Signature', 'webhook-signature'].map(
    (name) => `Signature: event ${event}: ${name} is not of webhook ${webhook}`,
  );
  expect(check({ posts: withHeaders({ 'x-service-signature': 'sha256=00' }) })).toEqual([ours]);
  expect(check({ posts: withHeaders({ 'webhook-signature': 'v1,AAAA' }) })).toEqual([standard]);
  expect(check({ posts: withHeaders({ 'webhook-timestamp': '1' }) })).toEqual([standard]);
  const signedLongAgo = { ...good, headers: post(event, delivery, { at: at - 3_600_000 }).headers };
  expect(check({ posts: [signedLongAgo] })).toEqual([standard]);
  const others = new Map([[webhook, [formatSecret(new Uint8Array(32).fill(8))]]]);
  expect(check({ secrets: others })).toEqual([ours, standard]);
  expect(check({ secrets: new Map([[webhook, [...(others.get(webhook) ?? []), secret]]]) })).toEqual([]);
});

test('the API shows another log than MongoDB stores', () => {
  const shown = { ...delivered, attempts: 2 };
  expect(check({ entries: [shown] })).toEqual([
    `Log: stored and not shown: event ${event}: delivery ${delivery} delivered after 1 attempts (null)`,
    `Log: shown and not stored: event ${event}: delivery ${delivery} delivered after 2 attempts (null)`,
  ]);
});

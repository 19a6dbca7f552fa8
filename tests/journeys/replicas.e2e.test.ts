/** Tests two replicas of every service: they start together on an empty database and share the work. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { idempotencyHeader, until } from '#libs/testing';
import { type FiveProcesses, fiveProcesses } from '../five-processes.ts';

const documentCount = 40;
/** The number of deliveries of each event, by its id. */
const arrived = new Map<string, number>();
let receiver: Server;
let five: FiveProcesses;

beforeAll(async () => {
  receiver = createServer((request, response) => {
    request.resume().on('end', () => {
      const id = String(request.headers['webhook-id']);
      arrived.set(id, (arrived.get(id) ?? 0) + 1);
      response.writeHead(204).end();
    });
  });
  await new Promise<void>((resolve) => receiver.listen(0, '127.0.0.1', resolve));
  five = await fiveProcesses('node', { replicas: 2 });
}, 120_000);

afterAll(async () => {
  receiver?.closeAllConnections();
  receiver?.close();
  await five?.stop();
}, 60_000);

test('both replicas of every service are ready', async () => {
  expect(five.services).toHaveLength(10);
  for (const { management } of five.services) expect((await fetch(`${management}/readyz`)).status).toBe(200);
});

test('each event is delivered once, and both replicas handle events', async () => {
  const key = await createKey();
  const { port } = receiver.address() as AddressInfo;
  const webhook = { name: 'Once', url: `http://127.0.0.1:${port}/`, event_types: ['document.published'] };
  await ask(five.origin, key, '/webhooks', webhook);
  const writers = five.services.filter(({ name }) => name === 'documents');
  const publishes = Array.from({ length: documentCount }, async (_, at) => {
    // created at one replica, published at the other
    const [first, second] = at % 2 === 0 ? writers : writers.toReversed();
    const { id } = await ask(first?.origin, key, '/documents', { title: `Document ${at}` });
    await ask(second?.origin, key, `/documents/${id}/publish`);
  });
  await Promise.all(publishes);
  await until('every event', async () => arrived.size === documentCount, 30_000);

  const senders = five.services.filter(({ name }) => name === 'webhook-delivery');
  const handled = await Promise.all(senders.map(({ management }) => countHandledEvents(management)));
  expect(Math.min(...handled)).toBeGreaterThan(0);
  expect(handled.reduce((sum, count) => sum + count)).toBe(documentCount);
  // a duplicate would have come from the other replica at the same time
  expect([...arrived.values()].every((count) => count === 1)).toBe(true);
}, 90_000);

test('one replica of each service can stop without losing events', async () => {
  const key = await createKey();
  const before = arrived.size;
  const { port } = receiver.address() as AddressInfo;
  const webhook = { name: 'On', url: `http://127.0.0.1:${port}/`, event_types: ['document.published'] };
  await ask(five.origin, key, '/webhooks', webhook);
  const stopping = five.services.filter(
    (one, at, all) => all.findIndex(({ name }) => name === one.name) !== at,
  );
  const stopped = stopping.map(({ process, exited }) => {
    process.kill('SIGTERM');
    return exited;
  });
  for (let at = 0; at < 10; at += 1) {
    const { id } = await ask(five.origin, key, '/documents', { title: `Later ${at}` });
    await ask(five.origin, key, `/documents/${id}/publish`);
  }
  expect(await Promise.all(stopped)).toEqual([0, 0, 0, 0, 0]);
  await until('every later event', async () => arrived.size === before + 10, 40_000);
}, 90_000);

async function createKey(): Promise<string> {
  const unique = Math.random().toString(36).slice(2);
  const account = { name: 'Ada', email: `ada-${unique}@example.com`, password: `correct horse ${unique}` };
  const session = await ask(five.origin, '', '/auth/register', { organization_name: unique, ...account });
  return (await ask(five.origin, session.access_token, '/api-keys', { name: 'Test', role: 'admin' })).key;
}

// biome-ignore lint/suspicious/noExplicitAny: responses of every shape
async function ask(origin: string | undefined, token: string, path: string, body?: unknown): Promise<any> {
  const response = await fetch(`${origin}/api/v1${path}`, {
    method: 'POST',
    headers: {
      ...idempotencyHeader('POST', token || undefined),
      ...(token && { authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'content-type': 'application/json' }),
    },
    body: body === undefined ? null : JSON.stringify(body),
  });
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`);
  return response.json();
}

async function countHandledEvents(management: string): Promise<number> {
  const text = await (await fetch(`${management}/metrics`)).text();
  const line = /^events_handled_total\{[^}]*document\.published[^}]*\} (\d+)$/m.exec(text);
  return Number(line?.[1] ?? 0);
}

/** Tests for the start and stop of services: order, readiness, and no leaks. */
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { anyone, operation } from '#libs/contract';
import { on, UnrecoverableError } from '#libs/events';
import { handle } from '#libs/http';
import { freePorts, tcpProxy, until, untilReady } from '#libs/testing';
import {
  createActor,
  createThing,
  type StoreFixture,
  storeFixture,
  ThingMade,
  thingConsumers,
  thingProducers,
  things,
} from '../testing/store-fixture.ts';
import { createLog } from './log.ts';
import { formatError } from './run.ts';
import { service } from './service.ts';
import { type RunningServices, start } from './start.ts';

let fixture: StoreFixture;
beforeAll(async () => {
  fixture = await storeFixture();
});
afterAll(() => fixture?.stop());

const common = { summary: '', access: anyone, status: 200, returns: z.unknown(), problems: [] } as const;
const makeThing = operation({
  ...common,
  id: 'makeThing',
  method: 'put',
  path: '/things/{name}',
  params: z.object({ name: z.string() }),
});
const waitLong = operation({ ...common, id: 'waitLong', method: 'get', path: '/wait' });

/**
 * Creates a service that makes things and publishes events, and a service that consumes them. `waitLong` waits until
 * the gate opens, which a stop does with `endsWaits`.
 */
function twoServices({ endsWaits = false } = {}) {
  const gate = Promise.withResolvers<void>();
  const seen = { consumed: [] as string[], workersStarted: 0, workersStopped: 0, waiting: 0 };
  const producer = service({
    contract: { ...thingProducers, operations: [makeThing, waitLong] },
    settings: z.object({}),
    collections: [things],
    start: ({ store }) => ({
      authenticate: async () => undefined,
      routes: [
        handle(makeThing, ({ params }) => createThing(store, createActor(), params.name)),
        handle(waitLong, async () => {
          seen.waiting += 1;
          await gate.promise;
          return { done: true };
        }),
      ],
      onDrain: () => (endsWaits ? gate.resolve() : undefined),
      workers: [
        {
          start() {
            seen.workersStarted += 1;
          },
          async stop() {
            seen.workersStopped += 1;
          },
        },
      ],
    }),
  });
  const consumer = service({
    contract: thingConsumers,
    settings: z.object({}),
    collections: [],
    start: () => ({
      authenticate: async () => undefined,
      routes: [],
      subscribers: [
        on(ThingMade, async ({ data }) => {
          if (data.name === 'bad') throw new UnrecoverableError('bad');
          seen.consumed.push(data.name);
        }),
      ],
    }),
  });
  return { seen, gate, services: [producer, consumer] };
}

const environmentWith = (more: Record<string, string> = {}) => ({
  MONGODB_URI: fixture.uri,
  ENCRYPTION_KEYS: randomBytes(32).toString('base64'),
  PORT: '0',
  MANAGEMENT_PORT: '0',
  HOST: '127.0.0.1',
  DRAIN_SECONDS: '5',
  ...more,
});
const startPair = ({ services }: ReturnType<typeof twoServices>, more: Record<string, string> = {}) =>
  start({
    services,
    contracts: [thingProducers, thingConsumers],
    environment: environmentWith(more),
    apiPrefix: '/api/v1',
    log: createLog({ level: 'silent', format: 'json' }),
  });
const put = (started: RunningServices, name: string) =>
  fetch(`http://127.0.0.1:${started.port}/api/v1/things/${name}`, { method: 'PUT' });
const getReadiness = async (started: RunningServices) => {
  const response = await fetch(`http://127.0.0.1:${started.managementPort}/readyz`);
  return { status: response.status, body: await response.json() };
};
/** Counts the MongoDB connections of the two services. */
const countMongoConnections = async () => {
  const { inprog } = await fixture.db.admin().command({ currentOp: 1, $all: true });
  const serviceNames = [thingProducers.name, thingConsumers.name];
  return inprog.filter(({ appName }: { appName?: string }) => serviceNames.includes(appName ?? '')).length;
};

test('requests, events, health and metrics work, stop ends workers', async () => {
  const pair = twoServices();
  const started = await startPair(pair);
  expect((await put(started, 'one')).status).toBe(200);
  await until('the event', async () => pair.seen.consumed.includes('one'));
  expect((await put(started, 'bad')).status).toBe(200);
  await untilReady(`http://127.0.0.1:${started.managementPort}`, { status: 'ready' });
  expect((await fetch(`http://127.0.0.1:${started.managementPort}/healthz`)).status).toBe(200);
  for (const path of ['/nowhere', '/things/a/b/c', '/x'.repeat(50)])
    await fetch(`http://127.0.0.1:${started.port}${path}`);

  const page = await until('both outcomes', async () => {
    const text = await (await fetch(`http://127.0.0.1:${started.managementPort}/metrics`)).text();
    return text.includes('outcome="failed"') && text.includes('outcome="handled"') && text;
  });
  expect(page).toContain('http_request_duration_seconds_count{operation="makeThing",status_class="2xx"} 2');
  expect(page).toContain(
    'events_handled_total{service="thing-consumers",type="thing.made",outcome="handled"} 1',
  );
  expect(page).toContain(
    'events_handled_total{service="thing-consumers",type="thing.made",outcome="failed"} 1',
  );
  expect(page).toContain('process_memory_rss_bytes');
  expect(page).toMatch(/^outbox_pending_events\{service="thing-producers"\} \d+$/m);
  expect(page).toMatch(/^outbox_oldest_seconds\{service="thing-consumers"\} 0$/m);
  const labels = [...page.matchAll(/^http_request_duration_seconds\w*\{([^}]*)\}/gm)].map(
    ([, text = '']) => text,
  );
  for (const text of labels)
    expect(text).toMatch(/^(le="[^"]+",)?operation="(makeThing|waitLong)",status_class="\dxx"$/);
  expect(page).not.toContain('nowhere');

  await started.stop();
  expect([pair.seen.workersStarted, pair.seen.workersStopped]).toEqual([1, 1]);
  await started.stop();
  expect(pair.seen.workersStopped).toBe(1);
});

test('stop closes all connections and frees the ports', async () => {
  // not ephemeral ports: another process could get one of them for a connection after the stop
  const [port, managementPort] = await freePorts(2);
  const ports = { PORT: `${port}`, MANAGEMENT_PORT: `${managementPort}` };
  const first = await startPair(twoServices(), ports);
  await put(first, 'again');
  await first.stop();
  const second = await startPair(twoServices(), ports);
  expect([second.port, second.managementPort]).toEqual([first.port, first.managementPort]);
  expect((await put(second, 'once-more')).status).toBe(200);
  await second.stop();
  await until('no connection to MongoDB', async () => (await countMongoConnections()) === 0);
  await expect(put(second, 'x')).rejects.toThrow();
  await expect(getReadiness(second)).rejects.toThrow();
});

test('a draining process is not ready and finishes requests in flight', async () => {
  const pair = twoServices();
  const started = await startPair(pair, { DRAIN_SECONDS: '3600' });
  const waiting = fetch(`http://127.0.0.1:${started.port}/api/v1/wait`);
  await until('a request in flight', async () => pair.seen.waiting === 1);
  const stopping = started.stop();
  expect(await getReadiness(started)).toMatchObject({
    status: 503,
    body: { reasons: { process: 'draining' } },
  });
  await expect(put(started, 'late')).rejects.toThrow();
  pair.gate.resolve();
  expect(await (await waiting).json()).toEqual({ done: true });
  await stopping;
});

test('a stop ends requests that wait before it waits for them', async () => {
  const pair = twoServices({ endsWaits: true });
  // without the end of the wait, the stop would close the connection after this time
  const started = await startPair(pair, { DRAIN_SECONDS: '3600' });
  const waiting = fetch(`http://127.0.0.1:${started.port}/api/v1/wait`);
  await until('a request in flight', async () => pair.seen.waiting === 1);
  await started.stop();
  expect(await (await waiting).json()).toEqual({ done: true });
});

test('events left in the outbox are published after the next start', async () => {
  const silent = await fixture.open({ contract: thingProducers });
  await createThing(silent, createActor(), 'left behind');
  const pair = twoServices();
  const started = await startPair(pair);
  await until('the event in the outbox', async () => pair.seen.consumed.includes('left behind'));
  await started.stop();
});

test('a port in use fails the start with a clear error and no leaks', async () => {
  const blocker = createServer();
  await new Promise<void>((resolve) => blocker.listen(0, '127.0.0.1', resolve));
  const address = blocker.address();
  const port = String(typeof address === 'object' && address?.port);
  for (const which of ['PORT', 'MANAGEMENT_PORT']) {
    const error = await startPair(twoServices(), { [which]: port }).catch((thrown: unknown) => thrown);
    expect(formatError(error)).toMatch(new RegExp(`^Port ${port} is taken .*\\.$`));
  }
  await fixture.close();
  await until('no connection to MongoDB', async () => (await countMongoConnections()) === 0);
  await new Promise((resolve) => blocker.close(resolve));
});

test('start rejects with the settings errors of all services', async () => {
  const pair = twoServices();
  const picky = service({
    ...pair.services[0],
    settings: z.object({ COLOUR: z.string() }),
  } as (typeof pair.services)[0]);
  const failing = startPair({ ...pair, services: [picky] }, { PORT: 'x', MONGODB_URI: '' });
  const error = await failing.catch((thrown: Error) => thrown);
  for (const name of ['PORT', 'MONGODB_URI', 'COLOUR']) expect(formatError(error)).toContain(name);
});

test('start requires RabbitMQ if another process consumes events', async () => {
  const pair = twoServices();
  const [producer] = pair.services;
  const producerOnly = { ...pair, services: producer ? [producer] : [] };
  const error = await startPair(producerOnly).catch((thrown: unknown) => thrown);
  expect(formatError(error)).toBe(
    'Invalid settings:\n  AMQP_URL: is required when services run in several processes',
  );
  const wrong = await startPair(pair, { AMQP_URL: 'https://u:hush@host/' }).catch(
    (thrown: unknown) => thrown,
  );
  expect(formatError(wrong)).toMatch(/ {2}AMQP_URL: must be a URL like amqps:/);
  expect(formatError(wrong)).not.toContain('hush');
});

test('a process without its RabbitMQ is ready but degraded, and stops', async () => {
  const started = await startPair(twoServices(), { AMQP_URL: 'amqp://127.0.0.1:9/' });
  expect((await put(started, 'waits')).status).toBe(200);
  const degraded = { events: 'the event bus is down' };
  await untilReady(`http://127.0.0.1:${started.managementPort}`, { status: 'ready', degraded });
  await started.stop();
});

test('a process that waits for MongoDB is alive and not ready', async () => {
  const proxy = await tcpProxy(fixture.uri);
  // the proxy forwards nothing
  proxy.cutAfter(Buffer.of(), Number.MAX_SAFE_INTEGER);
  const [managementPort] = await freePorts(1);
  const uri = new URL(fixture.uri);
  uri.host = new URL(proxy.url).host;
  uri.searchParams.set('directConnection', 'true');
  const starting = startPair(twoServices(), { MONGODB_URI: uri.href, MANAGEMENT_PORT: `${managementPort}` });
  const get = async (path: string) => {
    const response = await fetch(`http://127.0.0.1:${managementPort}${path}`);
    return [response.status, await response.text()];
  };
  const alive = await until('the management port', () => get('/healthz').catch(() => undefined));
  expect(alive[0]).toBe(200);
  expect(await get('/readyz')).toEqual([
    503,
    JSON.stringify({ status: 'not ready', reasons: { process: 'starting' } }),
  ]);
  proxy.cutAfter(Buffer.of(), 0);
  const started = await starting;
  await untilReady(`http://127.0.0.1:${managementPort}`);
  await started.stop();
  await proxy.close();
});

test('the management port can listen on an address of its own', async () => {
  const started = await startPair(twoServices(), { MANAGEMENT_HOST: '127.0.0.2' });
  try {
    expect((await fetch(`http://127.0.0.2:${started.managementPort}/healthz`)).status).toBe(200);
    await expect(fetch(`http://127.0.0.1:${started.managementPort}/healthz`)).rejects.toThrow();
    expect((await put(started, 'one')).status).toBe(200);
  } finally {
    await started.stop();
  }
});

test('a failed service start closes everything', async () => {
  const pair = twoServices();
  const [producer, ...others] = pair.services;
  if (!producer) throw new Error('The producer is missing');
  const broken = service({
    ...producer,
    start: (context) => ({
      ...producer.start(context),
      beforeStart: () => Promise.reject(new Error('no key')),
    }),
  });
  await expect(startPair({ ...pair, services: [broken, ...others] })).rejects.toThrow('no key');
  await until('no connection to MongoDB', async () => (await countMongoConnections()) === 0);
});

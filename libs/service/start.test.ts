/** Services start and stop in order, say how they are, and leave nothing behind. */
import { randomBytes } from 'node:crypto';
import { createServer } from 'node:net';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { anyone, operation } from '#libs/contract';
import { on, UnrecoverableError } from '#libs/events';
import { handle } from '#libs/http';
import { freePorts, tcpProxy, until } from '#libs/testing';
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

let stage: StoreFixture;
beforeAll(async () => {
  stage = await storeFixture();
}, 60_000);
afterAll(() => stage?.stop());

const common = { summary: '', access: anyone, status: 200, returns: z.unknown(), problems: [] } as const;
const makeOne = operation({
  ...common,
  id: 'makeOne',
  method: 'put',
  path: '/things/{name}',
  params: z.object({ name: z.string() }),
});
const waitLong = operation({ ...common, id: 'waitLong', method: 'get', path: '/wait' });

/** A service that makes things and one that hears of them. */
function duet() {
  const gate = Promise.withResolvers<void>();
  const seen = { heard: [] as string[], worked: 0, stopped: 0, waiting: 0 };
  const making = service({
    contract: { ...thingProducers, operations: [makeOne, waitLong] },
    settings: z.object({}),
    collections: [things],
    start: ({ store }) => ({
      authenticate: async () => undefined,
      routes: [
        handle(makeOne, ({ params }) => createThing(store, createActor(), params.name)),
        handle(waitLong, async () => {
          seen.waiting += 1;
          await gate.promise;
          return { done: true };
        }),
      ],
      workers: [
        {
          start() {
            seen.worked += 1;
          },
          async stop() {
            seen.stopped += 1;
          },
        },
      ],
    }),
  });
  const hearing = service({
    contract: thingConsumers,
    settings: z.object({}),
    collections: [],
    start: () => ({
      authenticate: async () => undefined,
      routes: [],
      subscribers: [
        on(ThingMade, async ({ data }) => {
          if (data.name === 'bad') throw new UnrecoverableError('bad');
          seen.heard.push(data.name);
        }),
      ],
    }),
  });
  return { seen, gate, services: [making, hearing] };
}

const environmentWith = (more: Record<string, string> = {}) => ({
  MONGODB_URI: stage.uri,
  ENCRYPTION_KEYS: randomBytes(32).toString('base64'),
  PORT: '0',
  MANAGEMENT_PORT: '0',
  HOST: '127.0.0.1',
  DRAIN_SECONDS: '5',
  ...more,
});
const begin = ({ services }: ReturnType<typeof duet>, more: Record<string, string> = {}) =>
  start({
    services,
    contracts: [thingProducers, thingConsumers],
    environment: environmentWith(more),
    apiPrefix: '/api/v1',
    log: createLog({ level: 'silent', format: 'json' }),
  });
const put = (started: RunningServices, name: string) =>
  fetch(`http://127.0.0.1:${started.port}/api/v1/things/${name}`, { method: 'PUT' });
const ready = async (started: RunningServices) => {
  const told = await fetch(`http://127.0.0.1:${started.managementPort}/readyz`);
  return { status: told.status, body: await told.json() };
};
/** What keeps this process running, without what was there before. */
const connectionsOfMongo = async () => {
  const { inprog } = await stage.db.admin().command({ currentOp: 1, $all: true });
  const ours = [thingProducers.name, thingConsumers.name];
  return inprog.filter(({ appName }: { appName?: string }) => ours.includes(appName ?? '')).length;
};

test('a request, its event, health and metrics work; stopping ends workers and consumers', async () => {
  const of = duet();
  const started = await begin(of);
  expect((await put(started, 'one')).status).toBe(200);
  await until('the event', async () => of.seen.heard.includes('one'));
  expect((await put(started, 'bad')).status).toBe(200);
  expect(await ready(started)).toEqual({ status: 200, body: { status: 'ready' } });
  expect((await fetch(`http://127.0.0.1:${started.managementPort}/healthz`)).status).toBe(200);
  for (const path of ['/nowhere', '/things/a/b/c', '/x'.repeat(50)])
    await fetch(`http://127.0.0.1:${started.port}${path}`);

  const page = await until('both outcomes', async () => {
    const text = await (await fetch(`http://127.0.0.1:${started.managementPort}/metrics`)).text();
    return text.includes('outcome="failed"') && text.includes('outcome="handled"') && text;
  });
  expect(page).toContain('http_request_duration_seconds_count{operation="makeOne",status_class="2xx"} 2');
  expect(page).toContain('events_handled_total{service="hearers",type="thing.made",outcome="handled"} 1');
  expect(page).toContain('events_handled_total{service="hearers",type="thing.made",outcome="failed"} 1');
  expect(page).toContain('process_memory_rss_bytes');
  expect(page).toMatch(/^outbox_pending_events\{service="thing-makers"\} \d+$/m);
  expect(page).toMatch(/^outbox_oldest_seconds\{service="hearers"\} 0$/m);
  const labels = [...page.matchAll(/^http_request_duration_seconds\w*\{([^}]*)\}/gm)].map(
    ([, text = '']) => text,
  );
  for (const text of labels)
    expect(text).toMatch(/^(le="[^"]+",)?operation="(makeOne|waitLong)",status_class="\dxx"$/);
  expect(page).not.toContain('nowhere');

  await started.stop();
  expect([of.seen.worked, of.seen.stopped]).toEqual([1, 1]);
  await started.stop();
  expect(of.seen.stopped).toBe(1);
}, 20_000);

test('a stop leaves no connection behind, and the same ports can be had again at once', async () => {
  const first = await begin(duet());
  await put(first, 'again');
  const ports = { PORT: String(first.port), MANAGEMENT_PORT: String(first.managementPort) };
  await first.stop();
  const second = await begin(duet(), ports);
  expect([second.port, second.managementPort]).toEqual([first.port, first.managementPort]);
  expect((await put(second, 'once-more')).status).toBe(200);
  await second.stop();
  await until('no connection to MongoDB', async () => (await connectionsOfMongo()) === 0);
  await expect(put(second, 'x')).rejects.toThrow();
  await expect(ready(second)).rejects.toThrow();
}, 20_000);

test('while it drains it is not ready, finishes what is in flight, and takes nothing new', async () => {
  const of = duet();
  const started = await begin(of);
  const waiting = fetch(`http://127.0.0.1:${started.port}/api/v1/wait`);
  await until('a request in flight', async () => of.seen.waiting === 1);
  const stopping = started.stop();
  expect(await ready(started)).toMatchObject({ status: 503, body: { reasons: { process: 'draining' } } });
  await expect(put(started, 'late')).rejects.toThrow();
  of.gate.resolve();
  expect(await (await waiting).json()).toEqual({ done: true });
  await stopping;
}, 20_000);

test('what a process said and did not publish is heard after its next start', async () => {
  const silent = await stage.open({ contract: thingProducers });
  await createThing(silent, createActor(), 'left behind');
  const of = duet();
  const started = await begin(of);
  await until('the event of before', async () => of.seen.heard.includes('left behind'));
  await started.stop();
}, 20_000);

test('a taken port is one clear sentence, and the failed start leaves nothing behind', async () => {
  const blocker = createServer();
  await new Promise<void>((resolve) => blocker.listen(0, '127.0.0.1', resolve));
  const address = blocker.address();
  const port = String(typeof address === 'object' && address?.port);
  for (const which of ['PORT', 'MANAGEMENT_PORT']) {
    const error = await begin(duet(), { [which]: port }).catch((thrown: unknown) => thrown);
    expect(formatError(error)).toMatch(new RegExp(`^Port ${port} is taken .*\\.$`));
  }
  await stage.close();
  await until('no connection to MongoDB', async () => (await connectionsOfMongo()) === 0);
  await new Promise((resolve) => blocker.close(resolve));
}, 20_000);

test('mistakes in the settings of all services end the start before anything is opened', async () => {
  const of = duet();
  const picky = service({
    ...of.services[0],
    settings: z.object({ COLOUR: z.string() }),
  } as (typeof of.services)[0]);
  const failing = begin({ ...of, services: [picky] }, { PORT: 'x', MONGODB_URI: '' });
  const error = await failing.catch((thrown: Error) => thrown);
  for (const name of ['PORT', 'MONGODB_URI', 'COLOUR']) expect(formatError(error)).toContain(name);
});

test('events that somebody in another process is to hear need RabbitMQ', async () => {
  const of = duet();
  const [making] = of.services;
  const alone = { ...of, services: making ? [making] : [] };
  const error = await begin(alone).catch((thrown: unknown) => thrown);
  expect(formatError(error)).toBe(
    'Invalid settings:\n  AMQP_URL: is required when services run in several processes',
  );
  const wrong = await begin(of, { AMQP_URL: 'https://u:hush@host/' }).catch((thrown: unknown) => thrown);
  expect(formatError(wrong)).toMatch(/ {2}AMQP_URL: must be an address like amqps:/);
  expect(formatError(wrong)).not.toContain('hush');
});

test('without its RabbitMQ a process is ready, says so, and ends all the same', async () => {
  const started = await begin(duet(), { AMQP_URL: 'amqp://127.0.0.1:9/' });
  expect((await put(started, 'waits')).status).toBe(200);
  expect(await ready(started)).toEqual({
    status: 200,
    body: { status: 'ready', degraded: { events: 'the event bus is down' } },
  });
  await started.stop();
}, 20_000);

test('a process that waits for MongoDB is alive and not ready, and says what it waits for until it is there', async () => {
  const wire = await tcpProxy(stage.uri);
  // nothing gets through
  wire.cutAfter(Buffer.of(), Number.MAX_SAFE_INTEGER);
  const [managementPort] = await freePorts(1);
  const uri = new URL(stage.uri);
  uri.host = new URL(wire.url).host;
  uri.searchParams.set('directConnection', 'true');
  const starting = begin(duet(), { MONGODB_URI: uri.href, MANAGEMENT_PORT: `${managementPort}` });
  const asked = async (path: string) => {
    const told = await fetch(`http://127.0.0.1:${managementPort}${path}`);
    return [told.status, await told.text()];
  };
  const alive = await until('the management port', () => asked('/healthz').catch(() => undefined));
  expect(alive[0]).toBe(200);
  expect(await asked('/readyz')).toEqual([
    503,
    JSON.stringify({ status: 'not ready', reasons: { process: 'starting' } }),
  ]);
  wire.cutAfter(Buffer.of(), 0);
  const started = await starting;
  expect((await asked('/readyz'))[0]).toBe(200);
  await started.stop();
  await wire.close();
}, 30_000);

test('a service that cannot begin lets go of everything', async () => {
  const of = duet();
  const [making, ...others] = of.services;
  if (!making) throw new Error('There is one');
  const broken = service({
    ...making,
    start: (given) => ({ ...making.start(given), beforeStart: () => Promise.reject(new Error('no key')) }),
  });
  await expect(begin({ ...of, services: [broken, ...others] })).rejects.toThrow('no key');
  await until('no connection to MongoDB', async () => (await connectionsOfMongo()) === 0);
}, 20_000);

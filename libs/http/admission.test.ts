/**
 * Tests admission control over HTTP: which requests of an overloaded process are rejected, that it recovers, and which
 * requests of a busy process wait.
 */
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, expect, test } from '@jest/globals';
import { z } from 'zod';
import { operation } from '#libs/contract';
import { until } from '#libs/testing';
import { type HttpFixture, httpFixture, insider, parseJson } from '../testing/http-fixture.ts';
import { type AdmissionLimits, createAdmission } from './admission.ts';
import type { Authenticate } from './credentials.ts';
import { handle } from './handle.ts';

const common = { summary: '', access: insider, status: 200, returns: z.unknown(), problems: [] } as const;
const wait = operation({ ...common, id: 'wait', method: 'get', path: '/wait' });
const poll = operation({ ...common, id: 'poll', method: 'get', path: '/poll', longPoll: true });
const work = operation({ ...common, id: 'work', method: 'get', path: '/work' });
const write = operation({ ...common, id: 'write', method: 'post', path: '/write', body: z.object({}) });
const ping = operation({ ...common, id: 'ping', method: 'get', path: '/ping' });

/** The beginning of a request whose body follows when the server asks for it. */
const head = [
  'POST /api/v1/write HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer good\r\nContent-Type: application/json',
  'Content-Length: 2\r\nExpect: 100-continue',
].join('\r\n');

const fixtures: HttpFixture[] = [];
let waiting: (() => void)[] = [];
/** The requests that compute at the moment. */
let running = 0;
/** The requests that compute block the event loop in each of their turns, until this is false. */
let isBusy = true;

afterEach(async () => {
  isBusy = false;
  await Promise.all(fixtures.splice(0).map(({ listening }) => listening.close(0)));
  await until('no request computes', async () => running === 0);
  [isBusy, waiting, mostStarts] = [true, [], 0];
});

/** The largest number of requests that began to wait in one turn of the event loop. */
let mostStarts = 0;
let starts = 0;

function countStart(): void {
  starts += 1;
  if (starts > 1) mostStarts = Math.max(mostStarts, starts);
  else
    setImmediate(() => {
      starts = 0;
    });
}

/** Responds to the requests that wait. */
function endWaiting(): void {
  for (const end of waiting.splice(0)) end();
}

/** Blocks the event loop, as computing does. */
function block(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

/** Starts a server. Returns a function that sends it a GET. */
async function start(limits: AdmissionLimits, authenticate?: Authenticate) {
  const routes = [
    handle(wait, async () => {
      countStart();
      return new Promise((resolve) => waiting.push(() => resolve({})));
    }),
    handle(poll, async () => new Promise((resolve) => waiting.push(() => resolve({})))),
    handle(work, async () => {
      running += 1;
      while (isBusy) {
        block(4);
        await new Promise((resolve) => setImmediate(resolve));
      }
      running -= 1;
      return {};
    }),
    handle(write, async () => ({})),
    handle(ping, async () => ({})),
  ];
  const options = { admission: createAdmission(limits), ...(authenticate && { authenticate }) };
  const http = await httpFixture(routes, options);
  fixtures.push(http);
  return Object.assign((path: string) => http.ask('GET', `/api/v1${path}`), { port: http.port });
}

test('long polls do not count as requests in progress', async () => {
  const ask = await start({ maxInProgress: 40 });
  const held = Array.from({ length: 50 }, () => ask('/poll'));
  await until('50 long polls wait', async () => waiting.length === 50);
  expect((await ask('/ping')).status).toBe(200);
  endWaiting();
  for (const response of held) expect((await response).status).toBe(200);
});

test('requests that wait for something are limited by their number', async () => {
  const ask = await start({ maxInProgress: 40 });
  const held = Array.from({ length: 40 }, () => ask('/wait'));
  await until('40 requests wait', async () => waiting.length === 40);
  const rejected = await ask('/ping');
  expect([rejected.status, rejected.headers.get('retry-after')]).toEqual([503, '1']);
  expect(await parseJson(rejected)).toMatchObject({
    code: 'unavailable',
    detail: expect.stringContaining('overloaded'),
  });
  endWaiting();
  for (const response of held) expect((await response).status).toBe(200);
  expect((await ask('/ping')).status).toBe(200);
});

test('a request counts from its authentication on', async () => {
  const ask = await start(
    { maxInProgress: 10 },
    async () => new Promise((resolve) => waiting.push(() => resolve(undefined))),
  );
  const held = Array.from({ length: 10 }, () => ask('/ping'));
  await until('10 requests are being authenticated', async () => waiting.length === 10);
  expect((await ask('/ping')).status).toBe(503);
  endWaiting();
  for (const response of held) expect((await response).status).toBe(401);
});

test('requests whose bodies arrive slowly do not count', async () => {
  const ask = await start({ maxInProgress: 20 });
  const sockets = Array.from({ length: 30 }, () => connect(ask.port, '127.0.0.1'));
  const statuses = sockets.map(async (socket) => {
    const continued = once(socket, 'data');
    socket.write(`${head}\r\n\r\n`);
    const [interim] = await continued;
    return String(interim).slice(9, 12);
  });
  expect(await Promise.all(statuses)).toEqual(sockets.map(() => '100'));
  expect((await ask('/ping')).status).toBe(200);
  for (const socket of sockets) socket.destroy();
});

test('a process with idle time accepts more requests than a saturated one', async () => {
  const ask = await start({ maxInProgress: 1_000, maxWhenSaturated: 4 });
  const held: Promise<Response>[] = [];
  // a busy machine may leave the process no idle time for a while
  await until('40 requests wait', async () => {
    held.push(ask('/wait'));
    await pause(10);
    return waiting.length >= 40;
  });
  endWaiting();
  await Promise.all(held);
});

test('a saturated process rejects requests above a lower number', async () => {
  const ask = await start({ maxInProgress: 1_000, maxWhenSaturated: 16 });
  const getStatus = async () => (await ask('/ping')).status;
  // few requests are never rejected, however long they compute
  const few = Array.from({ length: 8 }, () => ask('/work'));
  for (let sent = 0; sent < 20; sent += 1) expect(await getStatus()).toBe(200);
  const more = Array.from({ length: 12 }, () => ask('/work'));
  await until('a request is rejected', async () => (await getStatus()) === 503);
  isBusy = false;
  for (const response of [...few, ...more]) await response;
  await until('requests are accepted again', async () => (await getStatus()) === 200);
});

test('a busy process handles few requests at the same time', async () => {
  const ask = await start({ maxInProgress: 1_000, maxRunningWhenBusy: 4 });
  // opens the connections, of which the server accepts one in each turn of its event loop
  await Promise.all(Array.from({ length: 44 }, () => ask('/ping')));
  const first = Array.from({ length: 4 }, () => ask('/work'));
  await until('the process is busy', async () => running === 4);
  await pause(50);
  const since = performance.now();
  const others = Array.from({ length: 40 }, () => ask('/work'));
  // one more every 20 ms, so that none waits forever
  while (running < 10) {
    await pause(20);
    expect(running).toBeLessThanOrEqual(5 + (performance.now() - since) / 20);
  }
  isBusy = false;
  for (const response of [...first, ...others]) expect((await response).status).toBe(200);
  expect(running).toBe(0);
});

test('requests start when those before them only wait', async () => {
  const ask = await start({ maxInProgress: 1_000, maxRunningWhenBusy: 4 });
  const first = Array.from({ length: 4 }, () => ask('/work'));
  await until('the process is busy', async () => running === 4);
  await pause(50);
  const others = Array.from({ length: 60 }, () => ask('/wait'));
  isBusy = false;
  for (const response of first) await response;
  // more of them than may run at the same time
  await until('all others wait', async () => waiting.length === 60);
  expect(mostStarts).toBe(4);
  endWaiting();
  for (const response of others) expect((await response).status).toBe(200);
});

test('a request waits for its turn again after its body has arrived', async () => {
  const ask = await start({ maxInProgress: 1_000, maxRunningWhenBusy: 4 });
  const socket = connect(ask.port, '127.0.0.1');
  const continued = once(socket, 'data');
  socket.write(`${head}\r\n\r\n`);
  await continued;
  const first = Array.from({ length: 4 }, () => ask('/work'));
  await until('the process is busy', async () => running === 4);
  await pause(50);
  let response = '';
  socket.on('data', (part) => {
    response += part;
  });
  const before = Array.from({ length: 20 }, () => ask('/work'));
  await pause(50);
  socket.write('{}');
  await pause(50);
  expect(response).toBe('');
  isBusy = false;
  for (const sent of [...first, ...before]) await sent;
  await until('the response arrives', async () => response.startsWith('HTTP/1.1 200'));
  socket.destroy();
});

test('a request does not wait forever behind slow ones in a busy process', async () => {
  const ask = await start({ maxInProgress: 1_000, maxRunningWhenBusy: 4 });
  const slow = Array.from({ length: 4 }, () => ask('/wait'));
  await until('the slow requests wait', async () => waiting.length === 4);
  const work = ask('/work');
  await until('the process is busy', async () => running === 1);
  await pause(50);
  expect((await ask('/ping')).status).toBe(200);
  isBusy = false;
  await work;
  endWaiting();
  for (const response of slow) expect((await response).status).toBe(200);
});

test('a process that was busy for a moment rejects nothing', async () => {
  const isAccepted = async () => {
    const admission = createAdmission({ maxInProgress: 1_000 });
    await pause(100);
    const burst = Array.from({ length: 150 }, () => admission.begin());
    block(30);
    const [last] = await Promise.allSettled([Promise.race([admission.begin(), pause(0)])]);
    expect(burst).toHaveLength(150);
    return last?.status === 'fulfilled';
  };
  // a slow machine may block the process for longer
  await until('a burst is accepted', isAccepted);
});

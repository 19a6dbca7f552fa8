/**
 * Tests admission control over HTTP: which requests of an overloaded process are rejected, that it recovers, and which
 * requests of a busy process wait.
 */
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, expect, test } from '@jest/globals';
import { until } from '#libs/testing';
import { type AdmissionFixture, admissionFixture, block, headOfWrite } from '../testing/admission-fixture.ts';
import { parseJson } from '../testing/http-fixture.ts';
import { type Admission, type AdmissionLimits, createAdmission, type RequestProgress } from './admission.ts';
import type { Authenticate } from './credentials.ts';

const started: AdmissionFixture[] = [];

afterEach(async () => {
  for (const server of started.splice(0)) await server.stop();
});

async function start(limits: AdmissionLimits, authenticate?: Authenticate): Promise<AdmissionFixture> {
  const server = await admissionFixture(limits, authenticate);
  started.push(server);
  return server;
}

/** A request that admission control has decided about, or that waits. */
interface Admitted {
  state: 'waiting' | 'running' | 'rejected';
  progress?: RequestProgress;
}

/** Admits a request, by default of a new connection. */
function admit(admission: Admission, connection: object = {}): Admitted {
  const admitted: Admitted = { state: 'waiting' };
  void admission.admit(connection).then((progress) => {
    Object.assign(admitted, progress ? { state: 'running', progress } : { state: 'rejected' });
  });
  return admitted;
}

/** Waits until admitted requests know it. Leaves the event loop no idle time. */
async function settle(): Promise<void> {
  for (let times = 0; times < 10; times += 1) await Promise.resolve();
}

/** Overloads admission control, by default for 300 ms. Returns it with the requests that run, and those that wait. */
async function createOverload(connectionCount: number, { rounds = 12, maxRunningWhenBusy = 4 } = {}) {
  const admission = createAdmission({ maxInProgress: 1_000, maxWhenSaturated: 20, maxRunningWhenBusy });
  const connections = Array.from({ length: connectionCount }, () => ({}));
  const sent: Admitted[] = [];
  for (let round = 0; round < rounds; round += 1) {
    block(25);
    for (let at = 0; at < 60; at += 1)
      sent.push(admit(admission, connections[(round * 60 + at) % connectionCount]));
  }
  await settle();
  const select = (state: Admitted['state']) => sent.filter((admitted) => admitted.state === state);
  return { admission, running: select('running'), waiting: select('waiting') };
}

/** Repeats a scenario until it succeeds: on a busy machine, the event loop may seem idle although requests compute. */
function untilBusy(
  { state }: AdmissionFixture,
  what: string,
  scenario: () => Promise<boolean>,
): Promise<unknown> {
  return until(what, async () => {
    state.isBusy = true;
    const succeeds = await scenario();
    await until('no request computes', async () => state.running === 0);
    return succeeds;
  });
}

test('long polls do not count as requests in progress', async () => {
  const server = await start({ maxInProgress: 40 });
  const held = server.askTimes(50, '/poll');
  await until('50 long polls wait', async () => server.waiting.length === 50);
  expect((await server.ask('/ping')).status).toBe(200);
  server.endWaiting();
  for (const response of held) expect((await response).status).toBe(200);
});

test('requests that wait for something are limited by their number', async () => {
  const server = await start({ maxInProgress: 40 });
  const held = server.askTimes(40, '/wait');
  await until('40 requests wait', async () => server.waiting.length === 40);
  const rejected = await server.ask('/ping');
  expect([rejected.status, rejected.headers.get('retry-after')]).toEqual([503, '1']);
  expect(await parseJson(rejected)).toMatchObject({
    code: 'unavailable',
    detail: expect.stringContaining('overloaded'),
  });
  expect(server.rejected).toEqual(['ping']);
  server.endWaiting();
  for (const response of held) expect((await response).status).toBe(200);
  expect((await server.ask('/ping')).status).toBe(200);
  expect(server.outcomes).toHaveLength(41);
});

test('a request counts while it is authenticated', async () => {
  const server = await start(
    { maxInProgress: 10 },
    async () => new Promise((resolve) => server.waiting.push(() => resolve(undefined))),
  );
  const held = server.askTimes(10, '/ping');
  await until('10 requests are being authenticated', async () => server.waiting.length === 10);
  expect((await server.ask('/ping')).status).toBe(503);
  server.endWaiting();
  for (const response of held) expect((await response).status).toBe(401);
});

test('requests whose bodies arrive slowly do not count', async () => {
  const server = await start({ maxInProgress: 20 });
  const sockets = Array.from({ length: 30 }, () => connect(server.port, '127.0.0.1'));
  const statuses = sockets.map(async (socket) => {
    const continued = once(socket, 'data');
    socket.write(headOfWrite);
    const [interim] = await continued;
    return String(interim).slice(9, 12);
  });
  expect(await Promise.all(statuses)).toEqual(sockets.map(() => '100'));
  expect((await server.ask('/ping')).status).toBe(200);
  for (const socket of sockets) socket.destroy();
});

test('a process with idle time accepts more requests than a saturated one', async () => {
  const server = await start({ maxInProgress: 1_000, maxWhenSaturated: 4 });
  const held: Promise<Response>[] = [];
  // a busy machine may leave the process no idle time for a while
  await until('40 requests wait', async () => {
    held.push(server.ask('/wait'));
    await pause(10);
    return server.waiting.length >= 40;
  });
  server.endWaiting();
  await Promise.all(held);
});

test('a saturated process rejects requests above a lower number', async () => {
  const server = await start({ maxInProgress: 1_000, maxWhenSaturated: 16 });
  const getStatus = async () => (await server.ask('/ping')).status;
  // few requests are never rejected, however long they compute
  const few = server.askTimes(8, '/work');
  for (let sent = 0; sent < 20; sent += 1) expect(await getStatus()).toBe(200);
  const more = server.askTimes(12, '/work');
  await until('a request is rejected', async () => (await getStatus()) === 503);
  server.state.isBusy = false;
  for (const response of [...few, ...more]) await response;
  await until('requests are accepted again', async () => (await getStatus()) === 200);
});

test('a process without idle time for several short periods is saturated', async () => {
  const admission = createAdmission({ maxInProgress: 1_000, maxWhenSaturated: 4 });
  for (let sent = 0; sent < 4; sent += 1) admit(admission);
  // the first period may have begun with idle time
  const others = Array.from({ length: 5 }, () => {
    block(25);
    return admit(admission);
  });
  await settle();
  expect(others.map(({ state }) => state)).toContain('rejected');
});

test('a process that was busy for a moment rejects nothing', async () => {
  const isAccepted = async () => {
    const admission = createAdmission({ maxInProgress: 1_000 });
    await pause(100);
    const burst = Array.from({ length: 600 }, () => admit(admission));
    block(30);
    burst.push(admit(admission));
    await settle();
    return burst.every(({ state }) => state !== 'rejected');
  };
  // a slow machine may block the process for longer
  await until('a burst is accepted', isAccepted);
});

test('sustained overload: late requests are rejected, the last start first', async () => {
  await until('a scenario without a long pause', async () => {
    const { admission, running, waiting } = await createOverload(200);
    block(15);
    const [older, newer] = [admit(admission), admit(admission)];
    running[0]?.progress?.pause();
    await settle();
    const areRejected = waiting.length > 0 && waiting.every(({ state }) => state === 'rejected');
    return areRejected && older.state === 'waiting' && newer.state === 'running';
  });
});

test('in sustained overload, fewer requests run at the same time', async () => {
  await until('a scenario without a long pause', async () => {
    const { running, waiting } = await createOverload(200, { maxRunningWhenBusy: 12 });
    if (running.length !== 12) return false;
    for (const { progress } of running.slice(0, 4)) progress?.pause();
    await settle();
    const startedBefore = waiting.filter(({ state }) => state === 'running').length;
    running.at(-1)?.progress?.pause();
    await settle();
    return startedBefore === 0 && waiting.at(-1)?.state === 'running';
  });
});

test('a moment of overload is not sustained', async () => {
  await until('a scenario without a long pause', async () => {
    const { admission, waiting } = await createOverload(200, { rounds: 4 });
    block(15);
    const other = admit(admission);
    await settle();
    const areWaiting = waiting.length > 0 && waiting.every(({ state }) => state === 'waiting');
    return areWaiting && other.state === 'rejected';
  });
});

test('sustained overload: requests that resume are not rejected and go first', async () => {
  await until('a scenario without a long pause', async () => {
    const { admission, running, waiting } = await createOverload(200);
    const resumed: number[] = [];
    const paused = running.slice(0, 3);
    for (const { progress } of paused) progress?.pause();
    for (const [at, { progress }] of paused.entries()) void progress?.resume().then(() => resumed.push(at));
    block(15);
    admit(admission);
    await settle();
    const before = [...resumed];
    running[3]?.progress?.pause();
    await settle();
    const isOverloaded = waiting.some(({ state }) => state === 'rejected');
    return isOverloaded && before.length === 0 && resumed.length === 1 && resumed[0] === 0;
  });
});

test('few connections are no sustained overload, even if they do not wait', async () => {
  const { admission, running, waiting } = await createOverload(10);
  block(15);
  admit(admission);
  await settle();
  expect(waiting.length).toBeGreaterThan(0);
  expect(waiting.filter(({ state }) => state !== 'waiting')).toEqual([]);
  running[0]?.progress?.pause();
  await settle();
  expect(waiting.map(({ state }) => state).slice(0, 2)).toEqual(['running', 'waiting']);
});

test('a busy process handles few requests at the same time', async () => {
  const server = await start({ maxInProgress: 1_000, maxRunningWhenBusy: 4 });
  // opens the connections, because the server accepts only some in each turn of its event loop
  await Promise.all(server.askTimes(44, '/ping'));
  await untilBusy(server, 'few requests run', async () => {
    const first = server.askTimes(4, '/work');
    await until('the process is busy', async () => server.state.running === 4);
    await pause(50);
    const since = performance.now();
    const others = server.askTimes(40, '/work');
    let areFew = true;
    // one more every 20 ms, so that none waits forever
    await until('ten requests run', async () => {
      areFew &&= server.state.running <= 5 + (performance.now() - since) / 20;
      return server.state.running >= 10;
    });
    server.state.isBusy = false;
    for (const response of [...first, ...others]) expect((await response).status).toBe(200);
    return areFew;
  });
});

test('requests start when those before them only wait', async () => {
  const server = await start({ maxInProgress: 1_000, maxRunningWhenBusy: 4 });
  const first = server.askTimes(4, '/work');
  await until('the process is busy', async () => server.state.running === 4);
  await pause(50);
  const others = server.askTimes(60, '/wait');
  server.state.isBusy = false;
  for (const response of first) await response;
  // more of them than may run at the same time
  await until('all others wait', async () => server.waiting.length === 60);
  expect(server.state.mostStarts).toBe(4);
  server.endWaiting();
  for (const response of others) expect((await response).status).toBe(200);
});

test('a request waits for its turn again after its body has arrived', async () => {
  const server = await start({ maxInProgress: 1_000, maxRunningWhenBusy: 4 });
  await untilBusy(server, 'the request waits', async () => {
    const socket = connect(server.port, '127.0.0.1');
    const continued = once(socket, 'data');
    socket.write(headOfWrite);
    await continued;
    let response = '';
    socket.on('data', (part) => {
      response += part;
    });
    const first = server.askTimes(4, '/work');
    await until('the process is busy', async () => server.state.running === 4);
    await pause(50);
    const before = server.askTimes(20, '/work');
    await pause(50);
    socket.write('{}');
    // several turns of the event loop; those before it need at least 20 ms each to start
    for (let turns = 0; turns < 4; turns += 1) await pause(50);
    const isWaiting = response === '';
    server.state.isBusy = false;
    for (const sent of [...first, ...before]) await sent;
    await until('the response arrives', async () => response.startsWith('HTTP/1.1 200'));
    socket.destroy();
    return isWaiting;
  });
});

test('a request does not wait forever behind slow ones in a busy process', async () => {
  const server = await start({ maxInProgress: 1_000, maxRunningWhenBusy: 4 });
  const slow = server.askTimes(4, '/wait');
  await until('the slow requests wait', async () => server.waiting.length === 4);
  const work = server.ask('/work');
  await until('the process is busy', async () => server.state.running === 1);
  await pause(50);
  expect((await server.ask('/ping')).status).toBe(200);
  server.state.isBusy = false;
  await work;
  server.endWaiting();
  for (const response of slow) expect((await response).status).toBe(200);
});

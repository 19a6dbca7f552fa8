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
import { type AdmissionLimits, createAdmission } from './admission.ts';
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

test('a request counts from its authentication on', async () => {
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

test('a process without idle time for several short periods is saturated', () => {
  const admission = createAdmission({ maxInProgress: 1_000, maxWhenSaturated: 4 });
  for (let sent = 0; sent < 4; sent += 1) void admission.begin();
  // the first period may have begun with idle time
  for (let periods = 0; periods < 4; periods += 1) {
    block(25);
    admission.isOverloaded();
  }
  expect(admission.isOverloaded()).toBe(true);
});

test('a process that was busy for a moment rejects nothing', async () => {
  const isAccepted = async () => {
    const admission = createAdmission({ maxInProgress: 1_000 });
    await pause(100);
    expect(admission.isOverloaded()).toBe(false);
    for (let sent = 0; sent < 600; sent += 1) void admission.begin();
    block(30);
    return !admission.isOverloaded();
  };
  // a slow machine may block the process for longer
  await until('a burst is accepted', isAccepted);
});

test('a busy process handles few requests at the same time', async () => {
  const server = await start({ maxInProgress: 1_000, maxRunningWhenBusy: 4 });
  // opens the connections, of which the server accepts one in each turn of its event loop
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

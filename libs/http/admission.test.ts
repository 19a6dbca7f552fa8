/** Tests admission control over HTTP: which requests of an overloaded process are rejected, and that it recovers. */
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

test('a process that was busy for a moment rejects nothing', async () => {
  const isAccepted = async () => {
    const admission = createAdmission({ maxInProgress: 1_000 });
    await pause(100);
    expect(admission.isOverloaded()).toBe(false);
    for (let sent = 0; sent < 150; sent += 1) void admission.begin();
    block(30);
    return !admission.isOverloaded();
  };
  // a slow machine may block the process for longer
  await until('a burst is accepted', isAccepted);
});

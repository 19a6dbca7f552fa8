/** Tests admission control over HTTP: which requests of a busy process wait for their turn, and for how long. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, expect, test } from '@jest/globals';
import { until } from '#libs/testing';
import { type AdmissionFixture, admissionFixture, headOfWrite } from '../testing/admission-fixture.ts';
import type { AdmissionLimits } from './admission.ts';

const started: AdmissionFixture[] = [];

afterEach(async () => {
  for (const server of started.splice(0)) await server.stop();
});

async function start(limits: AdmissionLimits): Promise<AdmissionFixture> {
  const server = await admissionFixture(limits);
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

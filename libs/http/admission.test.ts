/** Tests admission control over HTTP: which requests of an overloaded process are rejected, and that it recovers. */
import { afterEach, expect, test } from '@jest/globals';
import { z } from 'zod';
import { operation } from '#libs/contract';
import { until } from '#libs/testing';
import { type HttpFixture, httpFixture, insider, parseJson } from '../testing/http-fixture.ts';
import { type AdmissionLimits, createAdmission } from './admission.ts';
import { handle } from './handle.ts';

const common = { summary: '', access: insider, status: 200, returns: z.unknown(), problems: [] } as const;
const wait = operation({ ...common, id: 'wait', method: 'get', path: '/wait' });
const poll = operation({ ...common, id: 'poll', method: 'get', path: '/poll', longPoll: true });
const work = operation({ ...common, id: 'work', method: 'get', path: '/work' });
const ping = operation({ ...common, id: 'ping', method: 'get', path: '/ping' });

const fixtures: HttpFixture[] = [];
let waiting: (() => void)[] = [];
/** The requests that compute block the event loop in each of their turns, until this is false. */
let isBusy = true;

afterEach(() => Promise.all(fixtures.splice(0).map(({ listening }) => listening.close(0))));

/** Blocks the event loop, as computing does. */
function block(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

/** Starts a server. Returns a function that sends it a GET. */
async function start(limits: AdmissionLimits) {
  const routes = [
    handle(wait, async () => new Promise((resolve) => waiting.push(() => resolve({})))),
    handle(poll, async () => new Promise((resolve) => waiting.push(() => resolve({})))),
    handle(work, async () => {
      while (isBusy) {
        block(4);
        await new Promise((resolve) => setImmediate(resolve));
      }
      return {};
    }),
    handle(ping, async () => ({})),
  ];
  const http = await httpFixture(routes, { admission: createAdmission(limits) });
  fixtures.push(http);
  return (path: string) => http.ask('GET', `/api/v1${path}`);
}

test('long polls do not count as requests in progress', async () => {
  const ask = await start({ maxInProgress: 40, minInProgress: 40 });
  const held = Array.from({ length: 50 }, () => ask('/poll'));
  await until('50 long polls wait', async () => waiting.length === 50);
  expect((await ask('/ping')).status).toBe(200);
  for (const end of waiting) end();
  waiting = [];
  for (const response of held) expect((await response).status).toBe(200);
});

test('requests that wait for something are limited by their number', async () => {
  const ask = await start({ maxInProgress: 40, minInProgress: 40 });
  const held = Array.from({ length: 40 }, () => ask('/wait'));
  await until('40 requests wait', async () => waiting.length === 40);
  const rejected = await ask('/ping');
  expect([rejected.status, rejected.headers.get('retry-after')]).toEqual([503, '1']);
  expect(await parseJson(rejected)).toMatchObject({
    code: 'unavailable',
    detail: expect.stringContaining('overloaded'),
  });
  for (const end of waiting) end();
  waiting = [];
  for (const response of held) expect((await response).status).toBe(200);
  expect((await ask('/ping')).status).toBe(200);
});

test('a process whose requests delay each other rejects further ones', async () => {
  const ask = await start({ maxInProgress: 1_000, minInProgress: 16 });
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

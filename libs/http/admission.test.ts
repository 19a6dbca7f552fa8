/** Tests admission control over HTTP: which requests of an overloaded process are rejected, and that it recovers. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { operation } from '#libs/contract';
import { until } from '#libs/testing';
import { type HttpFixture, httpFixture, insider, parseJson } from '../testing/http-fixture.ts';
import { createAdmission } from './admission.ts';
import { handle } from './handle.ts';

const common = { summary: '', access: insider, status: 200, returns: z.unknown(), problems: [] } as const;
const wait = operation({ ...common, id: 'wait', method: 'get', path: '/wait' });
const work = operation({ ...common, id: 'work', method: 'get', path: '/work' });
const ping = operation({ ...common, id: 'ping', method: 'get', path: '/ping' });

let http: HttpFixture;
let waiting: (() => void)[] = [];
/** Blocks the event loop, as computing does. */
const block = (ms: number) => {
  const until = performance.now() + ms;
  while (performance.now() < until);
};
/** The requests that compute block the event loop in each of their turns, until this is false. */
let isBusy = true;

beforeAll(async () => {
  http = await httpFixture(
    [
      handle(wait, async () => new Promise((resolve) => waiting.push(() => resolve({})))),
      handle(work, async () => {
        while (isBusy) {
          block(4);
          await new Promise((resolve) => setImmediate(resolve));
        }
        return {};
      }),
      handle(ping, async () => ({})),
    ],
    { admission: createAdmission({ maxInProgress: 40, minInProgress: 16 }) },
  );
});
afterAll(() => http?.listening.close(0));

const ask = (path: string) => http.ask('GET', `/api/v1${path}`);
const getStatus = async (path: string) => (await ask(path)).status;

test('requests that wait for something are limited by their number', async () => {
  const held = Array.from({ length: 40 }, () => ask('/wait'));
  await until('40 requests wait', () => waiting.length === 40);
  const rejected = await ask('/ping');
  expect([rejected.status, rejected.headers.get('retry-after')]).toEqual([503, '1']);
  expect(await parseJson(rejected)).toMatchObject({ code: 'unavailable', detail: expect.stringContaining('overloaded') });
  for (const end of waiting) end();
  waiting = [];
  for (const response of held) expect((await response).status).toBe(200);
  expect(await getStatus('/ping')).toBe(200);
});

test('a process whose requests delay each other rejects further ones', async () => {
  // few requests are never rejected, however long they compute
  const few = Array.from({ length: 8 }, () => ask('/work'));
  for (let sent = 0; sent < 20; sent += 1) expect(await getStatus('/ping')).toBe(200);
  const more = Array.from({ length: 12 }, () => ask('/work'));
  await until('a request is rejected', async () => (await getStatus('/ping')) === 503);
  isBusy = false;
  for (const response of [...few, ...more]) await response;
  await until('requests are accepted again', async () => (await getStatus('/ping')) === 200);
});

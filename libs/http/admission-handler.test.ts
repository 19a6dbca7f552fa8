/** Tests that every request is admitted or rejected, and is not counted after its end, however it ends. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, expect, test } from '@jest/globals';
import { z } from 'zod';
import { operation } from '#libs/contract';
import { until } from '#libs/testing';
import { type HttpFixture, httpFixture, insider } from '../testing/http-fixture.ts';
import { type Admission, createAdmission } from './admission.ts';
import { handle } from './handle.ts';

const common = { summary: '', access: insider, status: 200, returns: z.unknown(), problems: [] } as const;
const ping = operation({ ...common, id: 'ping', method: 'get', path: '/ping', crossOrigin: true });

let server: HttpFixture | undefined;
afterEach(() => server?.listening.close(0));

async function start(admission: Admission): Promise<HttpFixture> {
  server = await httpFixture([handle(ping, async () => ({}))], { admission });
  return server;
}

const maxInProgress = 20;
const twoHosts = 'Host: a\r\nHost: b\r\n';
const toHead = (line: string, headers = 'Host: a\r\n') =>
  `${line} HTTP/1.1\r\n${headers}Authorization: Bearer good\r\n`;

test.each([
  ['with two hosts', toHead('GET /api/v1/ping', twoHosts), 400],
  ['of an unknown path', toHead('GET /api/v1/unknown'), 404],
  ['of a host without a path', toHead('GET foo://h'), 404],
  ['of a scheme without a host', toHead('GET HTTP://'), 404],
  ['of a broken address', toHead('GET http://[::1/'), 404],
  ['of no resource', toHead('OPTIONS *'), 404],
  ['of a whole address', toHead('GET http://h/api/v1/ping?'), 200],
  ['with another method', toHead('DELETE /api/v1/ping'), 405],
  ['before another origin', toHead('OPTIONS /api/v1/ping'), 204],
  ['of its operation', toHead('GET /api/v1/ping'), 200],
])('a request %s counts until it has ended', async (_name, head, status) => {
  const { raw, ask } = await start(createAdmission({ maxInProgress }));
  for (let sent = 0; sent < 2 * maxInProgress; sent += 1)
    expect((await raw(`${head}Connection: close\r\n\r\n`)).slice(9, 12)).toBe(String(status));
  expect((await ask('GET', '/api/v1/ping')).status).toBe(200);
});

test('a request counts while its operation runs', async () => {
  const gate = Promise.withResolvers<object>();
  let running = 0;
  const wait = handle(ping, () => {
    running += 1;
    return gate.promise;
  });
  server = await httpFixture([wait], { admission: createAdmission({ maxInProgress: 2 }) });
  const { ask, port } = server;
  const client = connect(port, '127.0.0.1');
  client.write(`${toHead('GET /api/v1/ping')}\r\n`);
  const sent = ask('GET', '/api/v1/ping');
  await until('both run', async () => running === 2);
  expect((await ask('GET', '/api/v1/ping')).status).toBe(503);
  client.destroy();
  // its client has left, but its work continues
  for (let asked = 0; asked < 5; asked += 1) expect((await ask('GET', '/api/v1/ping')).status).toBe(503);
  gate.resolve({});
  expect((await sent).status).toBe(200);
});

test('an unknown path does not count while its body is missing', async () => {
  const { ask, port } = await start(createAdmission({ maxInProgress }));
  const sockets = await Promise.all(
    Array.from({ length: maxInProgress }, async () => {
      const socket = connect(port, '127.0.0.1').on('error', () => {});
      socket.write(`${toHead('POST /api/v1/unknown')}Content-Length: 9\r\n\r\n`);
      const [answer] = await once(socket, 'data');
      expect(String(answer)).toMatch(/^HTTP\/1.1 404/);
      return socket;
    }),
  );
  expect((await ask('GET', '/api/v1/ping')).status).toBe(200);
  for (const socket of sockets) socket.destroy();
});

test('requests whose connection is closed for its many requests do not count', async () => {
  const { raw, ask } = await start(createAdmission({ maxInProgress }));
  const invalid = `${toHead('GET /api/v1/ping', twoHosts)}\r\n`;
  for (let sent = 0; sent < 5; sent += 1) await raw(`${toHead('GET /api/v1/ping')}\r\n${invalid.repeat(16)}`);
  await until('a request is accepted', async () => (await ask('GET', '/api/v1/ping')).status === 200);
});

test.each([
  ['GET /api/v1/ping', 'ping'],
  ['HEAD /api/v1/ping', 'ping'],
  ['GET http://127.0.0.1/api/v1/ping?x=1', 'ping'],
  ['GET /api/v1/ping#x', 'ping'],
  ['GET /api\\v1/ping', undefined],
  ['GET /unknown', undefined],
])('an overloaded process rejects %s', async (line, id) => {
  const { raw, rejected } = await start(createAdmission({ maxInProgress: 0 }));
  const received = await raw(`${toHead(line)}X-Request-Id: me\r\nConnection: close\r\n\r\n`);
  expect(received.slice(0, 34)).toBe('HTTP/1.1 503 Service Unavailable\r\n');
  if (!line.startsWith('HEAD')) expect(received).toContain('"request_id":"me"');
  expect(rejected).toEqual([id]);
});

test('a rejection has the headers of every response', async () => {
  const getNames = async (maxRequests: number) => {
    const { ask, listening } = await start(createAdmission({ maxInProgress: maxRequests }));
    const { headers } = await ask('GET', '/api/v1/unknown');
    await listening.close(0);
    return [...headers.keys()];
  };
  const names = await getNames(0);
  expect(names).toEqual(expect.arrayContaining(await getNames(10)));
  expect(names).toEqual(expect.arrayContaining(['content-security-policy', 'retry-after']));
});

test('a request whose client left while it waited does not start', async () => {
  const arrived = Promise.withResolvers<void>();
  const turn = Promise.withResolvers<void>();
  let isCounted = true;
  const { port, outcomes } = await start({
    async admit() {
      arrived.resolve();
      await turn.promise;
      const pauseRequest = () => {
        isCounted = false;
      };
      return { arrivedAt: performance.now(), pause: pauseRequest, resume: async () => {} };
    },
  });
  const socket = connect(port, '127.0.0.1', () => socket.write(`${toHead('GET /api/v1/ping')}\r\n`));
  await arrived.promise;
  socket.destroy();
  // the server notices that soon; it starts the request if it has not
  await pause(200);
  turn.resolve();
  await until('the request does not count', async () => !isCounted);
  expect(outcomes).toEqual([]);
});

test('the duration of a request includes its wait', async () => {
  const waitMs = 50;
  const { ask, outcomes } = await start({
    async admit() {
      const arrivedAt = performance.now();
      await new Promise((resolve) => setTimeout(resolve, waitMs));
      return { arrivedAt, pause() {}, resume: async () => {} };
    },
  });
  await ask('GET', '/api/v1/ping');
  await until('the outcome is known', async () => outcomes.length === 1);
  // a timer may fire a moment early
  expect(outcomes[0]?.durationMs).toBeGreaterThan(waitMs - 2);
});

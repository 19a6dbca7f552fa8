/** Tests for Idempotency-Key, rate limits and graceful shutdown of the listener. */
import { connect } from 'node:net';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { anyone, newId, nothing, operation, problem } from '#libs/contract';
import { until } from '#libs/testing';
import {
  ada,
  type HttpFixture,
  httpFixture,
  insider,
  memoryResponseStore,
  parseJson,
} from '../testing/http-fixture.ts';
import { handle, reply } from './handle.ts';
import { tokenBucket } from './token-bucket.ts';

const Rejected = problem('rejected', 400, 'Rejected.');
const body = z.strictObject({ name: z.string() });
const common = { summary: '', access: insider, problems: [Rejected] } as const;
const query = z.strictObject({ strict: z.stringbool().optional() });
const thing = { method: 'post', path: '/things', query, body, status: 201, returns: z.unknown() } as const;
const createThing = operation({ ...common, ...thing, id: 'createThing', secrets: ['key'] });
const poke = operation({
  ...common,
  id: 'poke',
  method: 'post',
  path: '/pokes/{name}',
  params: z.object({ name: z.string() }),
  status: 204,
  returns: nothing,
});
const putThing = operation({
  ...common,
  id: 'putThing',
  method: 'put',
  path: '/things',
  body,
  status: 200,
  returns: z.unknown(),
});
const publicPost = operation({
  ...common,
  id: 'publicPost',
  method: 'post',
  path: '/public',
  access: anyone,
  body,
  status: 200,
  returns: z.unknown(),
});

let http: HttpFixture;
let runs = 0;
let shouldReject = false;
const routes = [
  handle(createThing, async ({ body: { name } }) => {
    runs += 1;
    if (shouldReject) throw Rejected();
    return reply({ name, run: runs, key: 'hush' }, { etag: String(runs) });
  }),
  handle(poke, async () => {
    runs += 1;
    return undefined;
  }),
  handle(putThing, async () => {
    runs += 1;
    return { run: runs };
  }),
  handle(publicPost, async () => {
    runs += 1;
    return { run: runs };
  }),
];
beforeAll(async () => {
  const authenticate = async (token: string) => ({ ...ada, ...(token === 'good' ? {} : { user_id: token }) });
  http = await httpFixture(routes, { authenticate });
});
afterAll(() => http?.listening.close(0));

const send = (method: string, path: string, key: string | undefined, name = 'n', as = 'good') =>
  http.ask(method, `/api/v1${path}`, {
    as,
    body: JSON.stringify({ name }),
    headers: { 'content-type': 'application/json', ...(key !== undefined && { 'idempotency-key': key }) },
  });
const replayed = (response: Response) => response.headers.get('idempotency-replayed');

describe('Idempotency-Key', () => {
  test('a repeated request gets the first response without its secrets', async () => {
    const key = newId();
    const [first, second] = [await send('POST', '/things', key), await send('POST', '/things', key)];
    const one = await parseJson(first);
    expect([first.status, replayed(first), one.key]).toEqual([201, null, 'hush']);
    expect([second.status, replayed(second), second.headers.get('etag')]).toEqual([
      201,
      'true',
      first.headers.get('etag'),
    ]);
    expect(second.headers.get('content-type')).toBe('application/json');
    expect(await parseJson(second)).toEqual({ ...one, key: null });
  });

  test('the same key with another body is rejected', async () => {
    const key = newId();
    await send('POST', '/things', key);
    const response = await send('POST', '/things', key, 'other');
    expect([response.status, (await parseJson(response)).code]).toEqual([400, 'idempotency_key_reused']);
  });

  test('the same key with another query is rejected', async () => {
    const key = newId();
    await send('POST', '/things?strict=true', key);
    const response = await send('POST', '/things?strict=false', key);
    expect([response.status, (await parseJson(response)).code]).toEqual([400, 'idempotency_key_reused']);
    expect(replayed(await send('POST', '/things?strict=true', key))).toBe('true');
  });

  test('a key is scoped to one principal and one path', async () => {
    const key = newId();
    expect(replayed(await send('POST', '/pokes/a', key))).toBeNull();
    expect(replayed(await send('POST', '/pokes/b', key))).toBeNull();
    expect(replayed(await send('POST', '/pokes/a', key, 'n', newId()))).toBeNull();
    const again = await send('POST', '/pokes/a', key);
    expect([again.status, replayed(again), await again.text()]).toEqual([204, 'true', '']);
  });

  test('only successful responses are stored', async () => {
    const key = newId();
    shouldReject = true;
    expect((await send('POST', '/things', key)).status).toBe(400);
    shouldReject = false;
    const response = await send('POST', '/things', key);
    expect([response.status, replayed(response)]).toEqual([201, null]);
  });

  test('every authenticated POST rejects a malformed key', async () => {
    for (const path of ['/things', '/pokes/a'])
      for (const key of ['', 'a b', 'x'.repeat(256), 'ä']) {
        const response = await send('POST', path, key);
        expect(response.status).toBe(400);
        expect((await parseJson(response)).errors).toEqual([
          { path: 'header/Idempotency-Key', message: expect.stringContaining('1 to 255') },
        ]);
      }
    expect((await send('POST', '/things', 'x'.repeat(255))).status).toBe(201);
  });

  test('the key is ignored for PUT and for public operations', async () => {
    const key = newId();
    for (const [method, path] of [
      ['PUT', '/things'],
      ['POST', '/public'],
    ] as const) {
      const before = runs;
      await send(method, path, key);
      expect(replayed(await send(method, path, key))).toBeNull();
      expect(runs).toBe(before + 2);
    }
  });
});

describe('a response that is too long to store', () => {
  const writeBook = operation({
    ...common,
    id: 'writeBook',
    method: 'post',
    path: '/books',
    body,
    status: 201,
    returns: z.unknown(),
  });
  const Gone = problem('gone', 404, 'Gone.');
  const store = memoryResponseStore({ longest: 10 });
  const post = (fixture: HttpFixture, key: string, as = 'good') =>
    fixture.ask('POST', '/api/v1/books', {
      as,
      body: '{"name":"n"}',
      headers: { 'content-type': 'application/json', 'idempotency-key': key },
    });

  test('is rendered from the current state, if the caller may see it', async () => {
    let edition = 1;
    let isGone = false;
    const principals: unknown[] = [];
    const show = (id: string) => reply({ id, edition }, { etag: String(edition), replayKey: { id } });
    const fixture = await httpFixture(
      [
        handle({ ...writeBook, problems: [Rejected, Gone] }, async () => show('b7'), {
          async authorizeReplay({ actor }) {
            if (isGone) throw Gone();
            principals.push(actor);
          },
          replay: async (_input, { id = '' }) => show(id),
        }),
      ],
      { store },
    );
    const key = newId();
    const first = await post(fixture, key);
    expect([first.status, replayed(first), await parseJson(first)]).toEqual([
      201,
      null,
      { id: 'b7', edition: 1 },
    ]);
    edition = 2;
    const second = await post(fixture, key);
    expect([second.status, replayed(second), second.headers.get('etag')]).toEqual([201, 'true', '"2"']);
    expect(await parseJson(second)).toEqual({ id: 'b7', edition: 2 });
    expect(principals).toMatchObject([ada]);
    isGone = true;
    const third = await post(fixture, key);
    expect([third.status, (await parseJson(third)).code]).toEqual([404, 'gone']);
    await fixture.listening.close(0);
  });

  test('is a 500 if the handler has a replay key but no replay', async () => {
    const fixture = await httpFixture(
      [handle(writeBook, async () => reply({ long: 'enough' }, { replayKey: { id: '1' } }))],
      { store },
    );
    const key = newId();
    expect((await post(fixture, key)).status).toBe(201);
    expect((await post(fixture, key)).status).toBe(500);
    expect(fixture.outcomes.at(-1)?.error).toHaveProperty(
      'message',
      'writeBook cannot render a response again',
    );
    await fixture.listening.close(0);
  });
});

describe('rate limits', () => {
  test('a principal over the limit gets 429 with Retry-After', async () => {
    let at = 0;
    const limit = tokenBucket({ perMinute: 6, burst: 2, now: () => at });
    const authenticate = async (token: string) => ({ ...ada, user_id: token });
    const limited = await httpFixture(routes, { limit, authenticate });
    const ask = (as: string) => limited.ask('POST', '/api/v1/pokes/a', { as });
    expect([(await ask('a')).status, (await ask('a')).status]).toEqual([204, 204]);
    const overLimit = await ask('a');
    expect([overLimit.status, overLimit.headers.get('retry-after')]).toEqual([429, '10']);
    expect(overLimit.headers.get('ratelimit-policy')).toBe('"default";q=6;w=60');
    expect(overLimit.headers.get('ratelimit')).toBe('"default";r=0;t=10');
    expect(await parseJson(overLimit)).toMatchObject({ code: 'too_many_requests' });
    expect((await ask('b')).status).toBe(204);
    at += 10_000;
    expect([(await ask('a')).status, (await ask('a')).status]).toEqual([204, 429]);
    await limited.listening.close(0);
  });

  test('a bucket never exceeds its burst and survives a clock set back', () => {
    let at = 1_000_000;
    const take = tokenBucket({ perMinute: 60, burst: 2, now: () => at });
    expect([take('a'), take('a'), take('a')]).toEqual([0, 0, 1]);
    at += 3_600_000;
    expect([take('a'), take('a'), take('a')]).toEqual([0, 0, 1]);
    at -= 3_600_000;
    expect(take('a')).toBe(1);
    at += 1_000;
    expect(take('a')).toBe(0);
  });
});

test('peeking into a bucket consumes no token', () => {
  let at = 0;
  const bucket = tokenBucket({ perMinute: 60, burst: 1, now: () => at });
  expect([bucket('a', 'peek'), bucket('a', 'peek'), bucket('a'), bucket('a', 'peek')]).toEqual([0, 0, 0, 1]);
  at += 1_000;
  expect([bucket('a', 'peek'), bucket('a')]).toEqual([0, 0]);
});

describe('a listener that is closing', () => {
  const waitFor = operation({
    ...common,
    id: 'waitFor',
    method: 'get',
    path: '/wait',
    access: anyone,
    status: 200,
    returns: z.unknown(),
  });
  const startRequest = async () => {
    const gate = Promise.withResolvers<void>();
    let inFlight = 0;
    const fixture = await httpFixture([
      handle(waitFor, async () => {
        inFlight += 1;
        await gate.promise;
        return { done: true };
      }),
    ]);
    const response = fixture.ask('GET', '/api/v1/wait', { as: null });
    await until('a request in flight', async () => inFlight === 1);
    return { fixture, gate, response };
  };

  test('finishes requests in flight and accepts no new connection', async () => {
    const { fixture, gate, response } = await startRequest();
    const closed = fixture.listening.close(3_600_000);
    await expect(fixture.raw('GET / HTTP/1.1\r\n\r\n')).rejects.toThrow('ECONNREFUSED');
    gate.resolve();
    expect(await parseJson(response)).toEqual({ done: true });
    await closed;
  });

  test('aborts remaining requests after the timeout', async () => {
    const { fixture, response } = await startRequest();
    const cut = expect(response).rejects.toThrow();
    await fixture.listening.close(20);
    await cut;
  });

  test('does not wait for connections that send nothing', async () => {
    const fixture = await httpFixture([]);
    await fixture.ask('GET', '/x');
    const silent = connect(fixture.port, '127.0.0.1');
    await new Promise((resolve) => silent.once('connect', resolve));
    await fixture.ask('GET', '/x');
    await fixture.listening.close(3_600_000);
    silent.destroy();
  });
});

/** Idempotency-Key, rate limits and the orderly end of a listener. */
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

const Refused = problem('refused', 400, 'Not now.');
const body = z.strictObject({ name: z.string() });
const common = { summary: '', access: insider, problems: [Refused] } as const;
const thing = { method: 'post', path: '/things', body, status: 201, returns: z.unknown() } as const;
const makeThing = operation({ ...common, ...thing, id: 'makeThing', secrets: ['key'] });
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
const openDoor = operation({
  ...common,
  id: 'openDoor',
  method: 'post',
  path: '/door',
  access: anyone,
  body,
  status: 200,
  returns: z.unknown(),
});

let http: HttpFixture;
let runs = 0;
let refuses = false;
const handled = [
  handle(makeThing, async ({ body: { name } }) => {
    runs += 1;
    if (refuses) throw Refused();
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
  handle(openDoor, async () => {
    runs += 1;
    return { run: runs };
  }),
];
beforeAll(async () => {
  const authenticate = async (token: string) => ({ ...ada, ...(token === 'good' ? {} : { user_id: token }) });
  http = await httpFixture(handled, { authenticate });
});
afterAll(() => http?.listening.close(0));

const send = (method: string, path: string, key: string | undefined, name = 'n', as = 'good') =>
  http.ask(method, `/api/v1${path}`, {
    as,
    body: JSON.stringify({ name }),
    headers: { 'content-type': 'application/json', ...(key !== undefined && { 'idempotency-key': key }) },
  });
const replayed = (told: Response) => told.headers.get('idempotency-replayed');

describe('Idempotency-Key', () => {
  test('a repeated request gets the first answer, marked, without its secrets', async () => {
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

  test('another body under the key is refused', async () => {
    const key = newId();
    await send('POST', '/things', key);
    const told = await send('POST', '/things', key, 'other');
    expect([told.status, (await parseJson(told)).code]).toEqual([400, 'idempotency_key_reused']);
  });

  test('the key belongs to one principal and one path', async () => {
    const key = newId();
    expect(replayed(await send('POST', '/pokes/a', key))).toBeNull();
    expect(replayed(await send('POST', '/pokes/b', key))).toBeNull();
    expect(replayed(await send('POST', '/pokes/a', key, 'n', newId()))).toBeNull();
    const again = await send('POST', '/pokes/a', key);
    expect([again.status, replayed(again), await again.text()]).toEqual([204, 'true', '']);
  });

  test('only answers of success are kept', async () => {
    const key = newId();
    refuses = true;
    expect((await send('POST', '/things', key)).status).toBe(400);
    refuses = false;
    const told = await send('POST', '/things', key);
    expect([told.status, replayed(told)]).toEqual([201, null]);
  });

  test('a key of another form is refused by every POST, also by one without a body', async () => {
    for (const path of ['/things', '/pokes/a'])
      for (const key of ['', 'a b', 'x'.repeat(256), 'ä']) {
        const told = await send('POST', path, key);
        expect(told.status).toBe(400);
        expect((await parseJson(told)).errors).toEqual([
          { path: 'header/Idempotency-Key', message: expect.stringContaining('1 to 255') },
        ]);
      }
    expect((await send('POST', '/things', 'x'.repeat(255))).status).toBe(201);
  });

  test('it is ignored where there is no POST, and where nobody has to say who they are', async () => {
    const key = newId();
    for (const [method, path] of [
      ['PUT', '/things'],
      ['POST', '/door'],
    ] as const) {
      const before = runs;
      await send(method, path, key);
      expect(replayed(await send(method, path, key))).toBeNull();
      expect(runs).toBe(before + 2);
    }
  });
});

describe('an answer that is too long to be kept', () => {
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
  const asked = (stage: HttpFixture, key: string, as = 'good') =>
    stage.ask('POST', '/api/v1/books', {
      as,
      body: '{"name":"n"}',
      headers: { 'content-type': 'application/json', 'idempotency-key': key },
    });

  test('is given again as things are now, with the status of the first and marked; only to who may have it', async () => {
    let edition = 1;
    let isGone = false;
    const told: unknown[] = [];
    const show = (id: string) => reply({ id, edition }, { etag: String(edition), replayKey: { id } });
    const library = await httpFixture(
      [
        handle({ ...writeBook, problems: [Refused, Gone] }, async () => show('b7'), {
          async authorizeReplay({ actor }) {
            if (isGone) throw Gone();
            told.push(actor);
          },
          replay: async (_asked, { id = '' }) => show(id),
        }),
      ],
      { store },
    );
    const key = newId();
    const first = await asked(library, key);
    expect([first.status, replayed(first), await parseJson(first)]).toEqual([
      201,
      null,
      { id: 'b7', edition: 1 },
    ]);
    edition = 2;
    const second = await asked(library, key);
    expect([second.status, replayed(second), second.headers.get('etag')]).toEqual([201, 'true', '"2"']);
    expect(await parseJson(second)).toEqual({ id: 'b7', edition: 2 });
    expect(told).toEqual([ada]);
    isGone = true;
    const third = await asked(library, key);
    expect([third.status, (await parseJson(third)).code]).toEqual([404, 'gone']);
    await library.listening.close(0);
  });

  test('is a mistake of ours where a handler names what it needs and does not say how', async () => {
    const forgetful = await httpFixture(
      [handle(writeBook, async () => reply({ long: 'enough' }, { replayKey: { id: '1' } }))],
      { store },
    );
    const key = newId();
    expect((await asked(forgetful, key)).status).toBe(201);
    expect((await asked(forgetful, key)).status).toBe(500);
    expect(forgetful.outcomes.at(-1)?.error).toHaveProperty(
      'message',
      'writeBook cannot render a response again',
    );
    await forgetful.listening.close(0);
  });
});

describe('rate limits', () => {
  test('a principal over the limit gets 429 with the seconds to wait; others do not', async () => {
    let at = 0;
    const limit = tokenBucket({ perMinute: 6, burst: 2, now: () => at });
    const authenticate = async (token: string) => ({ ...ada, user_id: token });
    const limited = await httpFixture(handled, { limit, authenticate });
    const ask = (as: string) => limited.ask('POST', '/api/v1/pokes/a', { as });
    expect([(await ask('a')).status, (await ask('a')).status]).toEqual([204, 204]);
    const over = await ask('a');
    expect([over.status, over.headers.get('retry-after')]).toEqual([429, '10']);
    expect(over.headers.get('ratelimit-policy')).toBe('"default";q=6;w=60');
    expect(over.headers.get('ratelimit')).toBe('"default";r=0;t=10');
    expect(await parseJson(over)).toMatchObject({ code: 'too_many_requests' });
    expect((await ask('b')).status).toBe(204);
    at += 10_000;
    expect([(await ask('a')).status, (await ask('a')).status]).toEqual([204, 429]);
    await limited.listening.close(0);
  });

  test('a bucket holds no more than its burst, and does not empty when the clock goes back', () => {
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

test('looking into a bucket takes nothing from it', () => {
  let at = 0;
  const bucket = tokenBucket({ perMinute: 60, burst: 1, now: () => at });
  expect([bucket('a', 'peek'), bucket('a', 'peek'), bucket('a'), bucket('a', 'peek')]).toEqual([0, 0, 0, 1]);
  at += 1_000;
  expect([bucket('a', 'peek'), bucket('a')]).toEqual([0, 0]);
});

describe('a listener that is closed', () => {
  const waitFor = operation({
    ...common,
    id: 'waitFor',
    method: 'get',
    path: '/wait',
    access: anyone,
    status: 200,
    returns: z.unknown(),
  });
  const waiting = async () => {
    const gate = Promise.withResolvers<void>();
    let inHand = 0;
    const stage = await httpFixture([
      handle(waitFor, async () => {
        inHand += 1;
        await gate.promise;
        return { done: true };
      }),
    ]);
    const answer = stage.ask('GET', '/api/v1/wait', { as: null });
    await until('a request in flight', async () => inHand === 1);
    return { stage, gate, answer };
  };

  test('lets requests in flight finish and takes no new connection', async () => {
    const { stage, gate, answer } = await waiting();
    const closed = stage.listening.close(10_000);
    await expect(stage.raw('GET / HTTP/1.1\r\n\r\n')).rejects.toThrow('ECONNREFUSED');
    gate.resolve();
    expect(await parseJson(answer)).toEqual({ done: true });
    await closed;
  });

  test('cuts what is left when its time is up', async () => {
    const { stage, answer } = await waiting();
    const cut = expect(answer).rejects.toThrow();
    await stage.listening.close(20);
    await cut;
  });

  test('does not wait for connections that say nothing', async () => {
    const stage = await httpFixture([]);
    await stage.ask('GET', '/x');
    const silent = connect(stage.port, '127.0.0.1');
    await new Promise((resolve) => silent.once('connect', resolve));
    await stage.ask('GET', '/x');
    const from = performance.now();
    await stage.listening.close(10_000);
    expect(performance.now() - from).toBeLessThan(3_000);
    silent.destroy();
  });

  test('a taken port is told', async () => {
    const stage = await httpFixture([]);
    const { listen } = await import('./server.ts');
    const { default: express } = await import('express');
    await expect(listen(express(), stage.port, '127.0.0.1')).rejects.toMatchObject({ code: 'EADDRINUSE' });
    await stage.listening.close(0);
  });
});

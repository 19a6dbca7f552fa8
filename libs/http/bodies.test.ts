/** Tests how request bodies are read: the budget of the process, compression, nesting and the number of errors. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { brotliCompressSync, deflateSync, gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import {
  anyone,
  InvalidRequest,
  id,
  listErrors,
  multipart,
  NotFound,
  nothing,
  operation,
} from '#libs/contract';
import { until } from '#libs/testing';
import { type HttpFixture, httpFixture, insider, parseJson } from '../testing/http-fixture.ts';
import { type BodyLease, type BodyPart, createBodyBudget } from './body-budget.ts';
import { createBodyParser } from './body-parser.ts';
import { handle } from './handle.ts';

const mib = 2 ** 20;
const common = { summary: '', access: insider, returns: z.unknown(), problems: [NotFound] } as const;
const createThing = operation({
  ...common,
  id: 'createThing',
  method: 'post',
  path: '/things',
  status: 201,
  body: z.strictObject({ name: z.string() }),
});
const signIn = operation({
  ...common,
  id: 'signIn',
  access: anyone,
  method: 'post',
  path: '/sessions',
  status: 201,
  body: z.strictObject({ name: z.string() }),
});
const replaceThing = operation({
  ...common,
  id: 'replaceThing',
  method: 'put',
  path: '/things/{thing_id}',
  params: z.object({ thing_id: id }),
  status: 200,
  body: z.strictObject({ name: z.string() }),
  maxBodyBytes: 3 * mib,
});
const uploadThing = operation({
  ...common,
  id: 'uploadThing',
  method: 'post',
  path: '/uploads',
  status: 204,
  returns: nothing,
  body: multipart({ fields: z.object({}), file: 'file', maxFileBytes: 8 * mib }),
});
const known = '01890a5d-ac96-774b-bcce-b302099a8057';
const unknown = '01890a5d-ac96-774b-bcce-b302099a8058';

let http: HttpFixture;
/** The requests whose handlers wait until the test ends them. */
let waiting: (() => void)[] = [];

const budget = createBodyBudget(6 * mib);
/** The bytes of large bodies that the server holds. */
let largeBytes = 0;

/** Counts the bytes of large bodies. */
function countBytes(part: BodyPart, lease: BodyLease): BodyLease {
  if (part !== 'large') return lease;
  let held = 0;
  return {
    take(bytes) {
      held += bytes;
      largeBytes += bytes;
      lease.take(bytes);
    },
    release() {
      largeBytes -= held;
      held = 0;
      lease.release();
    },
  };
}

async function answer({ name }: { name: string }) {
  if (name.startsWith('wait')) await new Promise<void>((resolve) => waiting.push(resolve));
  return { length: name.length };
}

beforeAll(async () => {
  http = await httpFixture(
    [
      handle(createThing, async ({ body }) => answer(body)),
      handle(signIn, async ({ body }) => answer(body)),
      handle(replaceThing, async ({ body }) => ({ length: body.name.length }), {
        beforeBody: async ({ params, isLarge }) => {
          if (isLarge && params.thing_id !== known) throw NotFound();
        },
      }),
      handle(uploadThing, async () => undefined),
    ],
    // 1 MiB for requests without credentials, 1 MiB for small bodies, 4 MiB for large ones
    {
      bodies: {
        budget: (part, clients) => countBytes(part, budget(part, clients)),
        parser: createBodyParser(),
      },
      trustedProxies: ['127.0.0.0/8'],
    },
  );
});
afterAll(() => http?.listening.close(0));

/** A text that, with what is around it, is smaller than half a MiB. */
const half = 'x'.repeat(mib / 2 - 100);
const json = { 'content-type': 'application/json' };
const post = (body: string | Uint8Array<ArrayBuffer>, headers: Record<string, string> = {}) =>
  http.ask('POST', '/api/v1/things', { headers: { ...json, ...headers }, body });
const put = (thing: string, length: number) =>
  http.ask('PUT', `/api/v1/things/${thing}`, {
    headers: json,
    body: JSON.stringify({ name: 'x'.repeat(length) }),
  });

/** Sends the head of a request and a part of its body, and keeps the connection open. */
async function sendPart(method: string, path: string, length: number, part: string): Promise<Socket> {
  const socket = connect(http.port, '127.0.0.1');
  const head = [`${method} /api/v1${path} HTTP/1.1`, 'host: x', 'authorization: Bearer good'];
  socket.write(
    `${[...head, 'content-type: application/json', `content-length: ${length}`].join('\r\n')}\r\n\r\n`,
  );
  await new Promise((resolve) => socket.write(part, resolve));
  return socket;
}

describe('the budget for bodies', () => {
  test('bodies that arrived but are not answered fill it: 503', async () => {
    const first = post(JSON.stringify({ name: `wait${half}` }));
    const second = post(JSON.stringify({ name: `wait${half}` }));
    await until('two handlers wait', async () => waiting.length === 2);
    const third = await post(JSON.stringify({ name: half }));
    expect([third.status, third.headers.get('retry-after')]).toEqual([503, '1']);
    expect((await parseJson(third)).detail).toContain('too much data');
    for (const end of waiting) end();
    waiting = [];
    expect([(await first).status, (await second).status]).toEqual([201, 201]);
    expect((await post(JSON.stringify({ name: half }))).status).toBe(201);
  });

  test('unfinished large bodies fill only their part of it', async () => {
    const part = `{"name":"${'x'.repeat(2.5 * mib)}`;
    const socket = await sendPart('PUT', `/things/${known}`, 3 * mib, part);
    await until('the server has the part', async () => largeBytes >= part.length);
    expect((await put(known, 2.5 * mib)).status).toBe(503);
    expect((await post('{"name":"small"}')).status).toBe(201);
    socket.destroy();
    await until('the budget is free', async () => largeBytes === 0);
    expect((await put(known, 2.5 * mib)).status).toBe(200);
  });

  test('a refused body frees its part before its rest has arrived', async () => {
    const part = `{"name":"${'x'.repeat(2.5 * mib)}`;
    const first = await sendPart('PUT', `/things/${known}`, 3 * mib, part);
    await until('the server has the part', async () => largeBytes >= part.length);
    const second = await sendPart('PUT', `/things/${known}`, 3 * mib, part);
    expect(String((await once(second, 'data'))[0])).toMatch(/^HTTP\/1\.1 503 /);
    expect(largeBytes).toBe(part.length);
    first.destroy();
    second.destroy();
    await until('the budget is free', async () => largeBytes === 0);
  });

  test('a compressed body counts with its size when decompressed', async () => {
    const body = gzipSync(JSON.stringify({ name: `wait${half}` }));
    const held = [1, 2].map(() => post(new Uint8Array(body), { 'content-encoding': 'gzip' }));
    await until('two handlers wait', async () => waiting.length === 2);
    expect((await post(new Uint8Array(body), { 'content-encoding': 'gzip' })).status).toBe(503);
    for (const end of waiting) end();
    waiting = [];
    for (const response of held) expect((await response).status).toBe(201);
  });

  test('requests without credentials fill only their part, with 16 KiB each', async () => {
    const send = (name: string, address = '203.0.113.99') =>
      http.ask('POST', '/api/v1/sessions', {
        as: null,
        headers: { ...json, 'x-forwarded-for': address },
        body: JSON.stringify({ name }),
      });
    const tooLarge = await send('x'.repeat(16 * 1024));
    expect([tooLarge.status, (await parseJson(tooLarge)).limit_bytes]).toEqual([413, 16 * 1024]);
    const largest = 'x'.repeat(16 * 1024 - 100);
    const held = Array.from({ length: 64 }, (_, at) => send(`wait${largest}`, `203.0.113.${at % 8}`));
    await until('64 handlers wait', async () => waiting.length === 64);
    expect((await send(largest)).status).toBe(503);
    expect((await post('{"name":"with credentials"}')).status).toBe(201);
    for (const end of waiting) end();
    waiting = [];
    for (const response of held) expect((await response).status).toBe(201);
  });

  test('uploaded files count', async () => {
    const form = new FormData();
    form.set('file', new File([new Uint8Array(5 * mib)], 'a'));
    expect((await http.ask('POST', '/api/v1/uploads', { body: form })).status).toBe(503);
    const small = new FormData();
    small.set('file', new File([new Uint8Array(3 * mib)], 'a'));
    expect((await http.ask('POST', '/api/v1/uploads', { body: small })).status).toBe(204);
  });
});

test('a large body for an unknown resource is refused unread', async () => {
  const socket = await sendPart('PUT', `/things/${unknown}`, 3 * mib, '{"name":');
  const [answer] = await once(socket, 'data');
  expect(String(answer)).toMatch(/^HTTP\/1.1 404 /);
  socket.destroy();
  expect((await put(known, 10)).status).toBe(200);
});

test('bodies may be compressed with gzip, deflate and br', async () => {
  const body = Buffer.from('{"name":"abc"}');
  for (const [encoding, bytes] of [
    ['gzip', gzipSync(body)],
    ['deflate', deflateSync(body)],
    ['BR', brotliCompressSync(body)],
    ['identity', body],
  ] as const)
    expect(await parseJson(post(new Uint8Array(bytes), { 'content-encoding': encoding }))).toEqual({
      length: 3,
    });
  const corrupt = await parseJson(post('no gzip', { 'content-encoding': 'gzip' }));
  expect([corrupt.status, corrupt.code]).toEqual([400, 'malformed_json']);
  const bomb = await parseJson(
    post(new Uint8Array(gzipSync(' '.repeat(2 * mib))), { 'content-encoding': 'gzip' }),
  );
  expect([bomb.status, bomb.limit_bytes]).toEqual([413, mib]);
});

test('JSON may be nested 128 levels deep', async () => {
  const nest = (levels: number) => `{"name":${'['.repeat(levels - 1)}"]["${']'.repeat(levels - 1)}}`;
  expect(await parseJson(post(nest(128)))).toMatchObject({ code: 'invalid_request' });
  for (const body of [nest(129), '['.repeat(500_000), '{"a":'.repeat(100_000)])
    expect(await parseJson(post(body))).toMatchObject({
      status: 400,
      code: 'malformed_json',
      detail: 'The JSON is nested deeper than 128 levels.',
    });
  expect(await parseJson(post('{"name":"\\\\\\"[[[[]]]]{{"}'))).toEqual({ length: 12 });
});

test('at most 100 errors are listed, with cut names', async () => {
  const names = Array.from({ length: 900 }, (_, index) => `"${index}${'n'.repeat(100)}":1`);
  const text = await (await post(`{${names.join(',')}}`)).text();
  const { errors, detail } = JSON.parse(text);
  expect(errors).toHaveLength(100);
  expect(errors[0]).toEqual({ path: 'body/name', message: 'Required' });
  expect(detail).toContain('801 more follow');
  expect(text.length).toBeLessThan(20_000);
  const few = listErrors(InvalidRequest, [{ path: 'a', message: 'b' }]);
  expect(few).toMatchObject({
    message: InvalidRequest.title,
    extra: { errors: [{ path: 'a', message: 'b' }] },
  });
});

test('the errors of a request are valid Unicode, also its unknown names', async () => {
  const text = await (await post('{"name":"x","\\ud83d":1}')).text();
  expect(text).not.toMatch(/\\ud83d"/);
  expect(JSON.parse(text).errors.map(({ path }: { path: string }) => path)).toContain('body/\ufffd');
});

test('a boundary of more than 70 characters is 400', async () => {
  for (const boundary of ['x'.repeat(71), 'x'.repeat(300), `"${'x'.repeat(300)}"`, '""']) {
    const headers = { 'content-type': `multipart/form-data; boundary=${boundary}` };
    const response = await parseJson(http.ask('POST', '/api/v1/uploads', { headers, body: 'x' }));
    expect([response.status, response.code]).toEqual([400, 'malformed_multipart']);
  }
});

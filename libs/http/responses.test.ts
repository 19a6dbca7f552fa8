/** Tests for responses: headers, conditional requests, pages, problems, streams. */
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import mongoose from 'mongoose';
import { z } from 'zod';
import { anyone, body, json, media, nothing, operation, page, problem } from '#libs/contract';
import { until } from '#libs/testing';
import { type HttpFixture, httpFixture, insider, parseJson } from '../testing/http-fixture.ts';
import { handle, type RequestInfo, reply } from './handle.ts';

const Teapot = problem('teapot', 418, 'Short and stout.');
const Unlisted = problem('unlisted', 409, 'Not declared.');
const common = { method: 'get', summary: '', access: anyone, status: 200, problems: [] } as const;
const getTagged = operation({
  ...common,
  id: 'getTagged',
  path: '/tagged',
  returns: z.unknown(),
  etag: true,
});
const getPublic = operation({
  ...common,
  id: 'getPublic',
  path: '/public',
  returns: z.unknown(),
  query: z.object({ private: z.string().optional() }),
  cacheControl: 'public, max-age=60',
});
const listPages = operation({
  ...common,
  id: 'listPages',
  path: '/pages',
  query: z.object({ ...page, x: z.string().optional() }),
  returns: z.unknown(),
  paged: true,
});
const getNothing = operation({
  ...common,
  id: 'getNothing',
  path: '/nothing',
  method: 'delete',
  status: 204,
  returns: nothing,
});
const getFile = operation({
  ...common,
  id: 'getFile',
  path: '/file',
  query: z.object({ how: z.string() }),
  returns: media({ 'text/csv': { description: 'x' } }),
});
const getLastFile = operation({
  ...common,
  id: 'getLastFile',
  path: '/last-file',
  query: z.object({ how: z.string().optional() }),
  returns: media({ 'text/csv': { description: 'x' } }),
  etag: true,
});
const fail = operation({
  ...common,
  id: 'fail',
  path: '/fail',
  query: z.object({ how: z.string() }),
  returns: z.unknown(),
  problems: [Teapot],
});
const loseDatabase = operation({
  ...common,
  access: insider,
  id: 'loseDatabase',
  path: '/lose',
  query: z.object({ label: z.string().optional() }),
  returns: z.unknown(),
});
const changeAndLose = operation({ ...loseDatabase, id: 'changeAndLose', method: 'patch' });
const createAndLose = operation({ ...loseDatabase, id: 'createAndLose', method: 'post' });
const createInPublic = operation({
  ...createAndLose,
  id: 'createInPublic',
  path: '/public-lose',
  access: anyone,
});
const readText = operation({ ...common, id: 'readText', path: '/text', returns: z.unknown() });

let http: HttpFixture;
let call: RequestInfo | undefined;
/** The stream of the last response of `getLastFile`. */
let lastFile: Readable | undefined;
/** How many handlers of `getLastFile` wait until their client disconnects. */
let waiting = 0;

beforeAll(async () => {
  http = await httpFixture([
    handle(getTagged, async (input) => {
      call = input.call;
      return reply({ a: 1 }, { etag: 'v7' });
    }),
    handle(getPublic, async ({ query }) =>
      reply({}, { headers: { 'Cache-Control': 'max-age=9' }, isPrivate: query.private !== undefined }),
    ),
    handle(listPages, async () => reply([], { next: 'a>b "c"\r\nX: y' })),
    handle(getNothing, async () => undefined),
    handle(readText, async () => json('{"spliced": [1 , 2]}')),
    handle(getFile, async ({ query: { how } }) => {
      if (how === 'whole') return body('text/csv', 'a;b\n');
      if (how === 'stream') return body('text/csv', Readable.from([Buffer.from('a;'), Buffer.from('b\n')]));
      if (how === 'endless') return body('text/csv', Readable.from(endless()));
      return body('text/csv', Readable.from(breaking()));
    }),
    handle(getLastFile, async ({ query: { how }, call: { signal } }) => {
      if (how === 'late') {
        waiting += 1;
        await once(signal, 'abort');
      }
      lastFile = Readable.from(endless());
      const headers: Record<string, string> = how === 'header' ? { 'X-Bad': 'a\r\nb' } : {};
      return reply(body('text/csv', lastFile), { etag: 'v7', headers });
    }),
    handle(loseDatabase, ({ query }) => rejectAsLost(query.label)),
    handle(changeAndLose, ({ query }) => rejectAsLost(query.label)),
    handle(createAndLose, ({ query }) => rejectAsLost(query.label)),
    handle(createInPublic, ({ query }) => rejectAsLost(query.label)),
    handle(fail, async ({ query: { how } }) => {
      if (how === 'teapot')
        throw Teapot('Tip me over.', { extra: { spout: true }, headers: { 'X-Handle': 'here' } });
      if (how === 'unlisted') throw Unlisted();
      if (how === 'header') return reply({}, { headers: { 'X-Bad': 'a\r\nSet-Cookie: b' } });
      throw Object.assign(new Error('password=hunter2'), { cause: 'deep' });
    }),
  ]);
});
afterAll(() => http?.listening.close(0));

async function rejectAsLost(label: string | undefined): Promise<never> {
  const error = new mongoose.mongo.MongoNetworkError('reset');
  if (label !== undefined) error.addErrorLabel(label);
  throw error;
}

async function* endless() {
  for (;;) {
    yield Buffer.alloc(1_000);
    await new Promise((resolve) => setImmediate(resolve));
  }
}
async function* breaking() {
  yield Buffer.from('a;');
  throw new Error('the disk is gone');
}
const get = (path: string, headers: Record<string, string> = {}) =>
  http.ask('GET', `/api/v1${path}`, { headers, as: null });

describe('request ids', () => {
  test('a well-formed request id is returned, also in problems', async () => {
    for (const requestId of ['a', 'A.b_c-9', 'x'.repeat(128)]) {
      expect((await get('/tagged', { 'x-request-id': requestId })).headers.get('x-request-id')).toBe(
        requestId,
      );
      const rejected = await get('/nowhere', { 'x-request-id': requestId });
      expect([rejected.headers.get('x-request-id'), (await parseJson(rejected)).request_id]).toEqual([
        requestId,
        requestId,
      ]);
    }
  });

  test('a malformed id is replaced, so it cannot forge headers or logs', async () => {
    for (const requestId of ['', 'a b', 'x'.repeat(129), 'ä', 'a,b', 'a"b', '<script>', 'a\tb'])
      expect((await get('/tagged', { 'x-request-id': requestId })).headers.get('x-request-id')).toMatch(
        /^[0-9a-f-]{36}$/,
      );
    for (const odd of ['X-Request-Id: a%0d%0aSet-Cookie: x=1', 'X-Request-Id: a\r\nX-Request-Id: b']) {
      const response = await http.raw(
        `GET /api/v1/tagged HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${odd}\r\n\r\n`,
      );
      expect(response).toMatch(/X-Request-Id: [0-9a-f-]{36}\r\n/i);
      expect(response).not.toMatch(/^set-cookie/im);
    }
  });

  test('a request without an id gets a unique one', async () => {
    const ids = await Promise.all(
      [1, 2, 3].map(async () => (await get('/tagged')).headers.get('x-request-id')),
    );
    expect(new Set(ids).size).toBe(3);
  });
});

describe('conditional requests', () => {
  test('an ETag is strong and quoted', async () => {
    expect((await get('/tagged')).headers.get('etag')).toBe('"v7"');
  });

  test('If-None-Match with the current ETag gives 304 without a body', async () => {
    for (const tags of ['"v7"', 'W/"v7"', '"x", "v7"', '*', ' "v7" ']) {
      const response = await get('/tagged', { 'if-none-match': tags });
      expect([response.status, await response.text(), response.headers.get('etag')]).toEqual([
        304,
        '',
        '"v7"',
      ]);
      expect(response.headers.get('content-type')).toBeNull();
      expect(response.headers.get('cache-control')).toBe('private, no-cache');
    }
    for (const tags of ['"v8"', 'v7', '""'])
      expect((await get('/tagged', { 'if-none-match': tags })).status).toBe(200);
  });

  test('If-Match is parsed to its ETags; * and no header to undefined', async () => {
    const parseIfMatch = async (headers: Record<string, string>) => {
      await get('/tagged', headers);
      return call?.ifMatch;
    };
    expect(await parseIfMatch({})).toBeUndefined();
    expect(await parseIfMatch({ 'if-match': '*' })).toBeUndefined();
    expect(await parseIfMatch({ 'if-match': '"a", W/"b", "c"' })).toEqual(['a', 'b', 'c']);
  });
});

describe('response bodies', () => {
  test('Link to the next page keeps the query and is escaped', async () => {
    const response = await get('/pages?limit=5&x=%3E');
    const [, target = ''] = /^<(.*)>; rel="next"$/.exec(response.headers.get('link') ?? '') ?? [];
    const url = new URL(target, http.origin);
    expect(url.pathname).toBe('/api/v1/pages');
    expect(url.searchParams.getAll('cursor')).toEqual([expect.stringMatching(/^[\w.-]+$/)]);
    expect(url.searchParams.get('limit')).toBe('5');
    expect(target).not.toMatch(/[<>\r\n"]/);
    expect(response.headers.get('x')).toBeNull();
  });

  test('a handler without a result gives 204 without a content type', async () => {
    const response = await http.ask('DELETE', '/api/v1/nothing');
    expect([response.status, response.headers.get('content-type'), await response.text()]).toEqual([
      204,
      null,
      '',
    ]);
  });

  test('JSON text is sent unchanged', async () => {
    const response = await get('/text');
    expect([response.headers.get('content-type'), await response.text()]).toEqual([
      'application/json',
      '{"spliced": [1 , 2]}',
    ]);
  });

  test('files are sent whole or streamed with their media type', async () => {
    for (const how of ['whole', 'stream']) {
      const response = await get(`/file?how=${how}`);
      expect([response.headers.get('content-type'), await response.text()]).toEqual(['text/csv', 'a;b\n']);
    }
    expect((await http.ask('HEAD', '/api/v1/file?how=stream')).status).toBe(200);
  });

  test('a failing stream aborts the response and reports the error', async () => {
    await expect(get('/file?how=broken').then((response) => response.text())).rejects.toThrow();
    expect(http.outcomes.at(-1)?.error).toHaveProperty('message', 'the disk is gone');
  });

  test('a client that disconnects during a stream is not an error', async () => {
    const before = http.outcomes.length;
    const abort = new AbortController();
    const response = await http.ask('GET', '/api/v1/file?how=endless', { signal: abort.signal });
    expect(response.status).toBe(200);
    abort.abort();
    await until('the outcome', async () => http.outcomes.length > before);
    expect(http.outcomes.at(-1)).not.toHaveProperty('error');
  });

  test('a client that disconnects before a stream starts is not an error', async () => {
    const before = http.outcomes.length;
    const abort = new AbortController();
    const response = http.ask('GET', '/api/v1/last-file?how=late', { signal: abort.signal });
    await until('the handler', async () => waiting === 1);
    abort.abort();
    await expect(response).rejects.toThrow('aborted');
    await until('the outcome', async () => http.outcomes.length > before);
    expect(http.outcomes.at(-1)).toMatchObject({ operation: 'getLastFile', status: 200 });
    expect(http.outcomes.at(-1)).not.toHaveProperty('error');
    expect(lastFile?.destroyed).toBe(true);
  });

  test('a stream that is not sent is destroyed', async () => {
    const requests = [
      ['GET', '', { 'if-none-match': '"v7"' }, 304],
      ['HEAD', '', {}, 200],
      ['GET', '?how=header', {}, 500],
    ] as const;
    for (const [method, query, headers, status] of requests) {
      const response = await http.ask(method, `/api/v1/last-file${query}`, { headers });
      expect([response.status, lastFile?.destroyed]).toEqual([status, true]);
    }
  });

  test('no cache stores a response unless its operation says so', async () => {
    const policies = { '/text': 'no-store', '/tagged': 'private, no-cache', '/public': 'public, max-age=60' };
    for (const [path, policy] of Object.entries(policies))
      expect((await get(path)).headers.get('cache-control')).toBe(policy);
    for (const path of ['/nowhere', '/fail?how=teapot', '/fail?how=error', '/fail'])
      expect((await get(path)).headers.get('cache-control')).toBe('no-store');
    expect((await get('/public?private=yes')).headers.get('cache-control')).toBe('no-store');
    expect((await http.ask('DELETE', '/api/v1/nothing')).headers.get('cache-control')).toBe('no-store');
  });

  test('every response forbids content sniffing and framing', async () => {
    for (const path of ['/tagged', '/nowhere', '/fail?how=teapot']) {
      const { headers } = await get(path);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('content-security-policy')).toContain("default-src 'none'");
      // frame-ancestors covers it, and an operation that may be framed could not remove the older header
      expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
      expect(headers.get('x-frame-options')).toBeNull();
      expect(headers.get('x-powered-by')).toBeNull();
    }
  });
});

describe('problems', () => {
  test('a problem has the RFC 9457 members and its own members and headers', async () => {
    const response = await get('/fail?how=teapot', { 'x-request-id': 'me' });
    expect([response.status, response.headers.get('content-type'), response.headers.get('x-handle')]).toEqual(
      [418, 'application/problem+json', 'here'],
    );
    expect(await parseJson(response)).toEqual({
      type: 'urn:problem:teapot',
      title: 'Short and stout.',
      status: 418,
      detail: 'Tip me over.',
      code: 'teapot',
      request_id: 'me',
      spout: true,
    });
    expect(http.outcomes.at(-1)).toMatchObject({
      operation: 'fail',
      status: 418,
      problem: 'teapot',
      requestId: 'me',
    });
    expect(http.outcomes.at(-1)).not.toHaveProperty('error');
  });

  test('an undeclared problem is a 500 without details, and is reported', async () => {
    const response = await get('/fail?how=unlisted');
    expect(response.status).toBe(500);
    expect(await response.text()).not.toContain('nlisted');
    expect(http.outcomes.at(-1)?.error).toHaveProperty('kind', Unlisted);
  });

  test('an unknown error is a 500 without details, and is reported', async () => {
    const response = await get('/fail?how=error');
    const text = await response.text();
    expect([response.status, JSON.parse(text).code]).toEqual([500, 'internal']);
    for (const detail of ['hunter2', 'deep', 'Error', '.ts']) expect(text).not.toContain(detail);
    expect(http.outcomes.at(-1)).toMatchObject({
      status: 500,
      problem: 'internal',
      error: { message: 'password=hunter2' },
    });
  });

  test.each([
    ['GET /lose', '', 'unavailable'],
    ['PATCH /lose', '', 'outcome_unknown'],
    ['PATCH /lose', 'TransientTransactionError', 'unavailable'],
    ['POST /lose', '', 'outcome_unknown'],
    ['POST /lose with a key', '', 'unavailable'],
    ['POST /lose with a key', 'UnknownTransactionCommitResult', 'outcome_unknown'],
    ['POST /public-lose', '', 'unavailable'],
    ['POST /public-lose', 'UnknownTransactionCommitResult', 'outcome_unknown'],
  ])('%s without an answer of MongoDB (%s) is %s', async (request, label, code) => {
    const [method = '', path, ...key] = request.split(' ');
    const headers: Record<string, string> = key.length > 0 ? { 'idempotency-key': label || 'k' } : {};
    const response = await http.ask(method, `/api/v1${path}${label && `?label=${label}`}`, { headers });
    expect([response.status, response.headers.get('retry-after')]).toEqual([503, '2']);
    const { code: sent, detail } = await parseJson(response);
    expect([sent, detail.includes('Nothing was changed')]).toEqual([code, code === 'unavailable']);
    expect(http.outcomes.at(-1)).toMatchObject({ error: { message: 'reset' } });
  });

  test('an invalid header from a handler is a 500 and is not sent', async () => {
    const response = await get('/fail?how=header');
    expect([response.status, response.headers.get('set-cookie')]).toEqual([500, null]);
  });
});

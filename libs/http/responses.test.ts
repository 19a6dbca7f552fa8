/** What answers look like: headers, conditional requests, pages, problems, streams. */
import { Readable } from 'node:stream';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { anyone, body, json, media, nothing, operation, page, problem } from '#libs/contract';
import { until } from '#libs/testing';
import { type HttpFixture, httpFixture, parseJson } from '../testing/http-fixture.ts';
import { handle, type RequestInfo, reply } from './handle.ts';

const Teapot = problem('teapot', 418, 'Short and stout.');
const Unlisted = problem('unlisted', 409, 'Nobody said so.');
const common = { method: 'get', summary: '', access: anyone, status: 200, problems: [] } as const;
const getTagged = operation({
  ...common,
  id: 'getTagged',
  path: '/tagged',
  returns: z.unknown(),
  etag: true,
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
const fail = operation({
  ...common,
  id: 'fail',
  path: '/fail',
  query: z.object({ how: z.string() }),
  returns: z.unknown(),
  problems: [Teapot],
});
const readText = operation({ ...common, id: 'readText', path: '/text', returns: z.unknown() });

let http: HttpFixture;
let call: RequestInfo | undefined;

beforeAll(async () => {
  http = await httpFixture([
    handle(getTagged, async (asked) => {
      call = asked.call;
      return reply({ a: 1 }, { etag: 'v7', headers: { 'Cache-Control': 'no-cache' } });
    }),
    handle(listPages, async () => reply([], { next: 'a>b "c"\r\nX: y' })),
    handle(getNothing, async () => undefined),
    handle(readText, async () => json('{"spliced": [1 , 2]}')),
    handle(getFile, async ({ query: { how } }) => {
      if (how === 'whole') return body('text/csv', 'a;b\n');
      if (how === 'stream') return body('text/csv', Readable.from([Buffer.from('a;'), Buffer.from('b\n')]));
      if (how === 'endless') return body('text/csv', Readable.from(endless()));
      return body('text/csv', Readable.from(breaking()));
    }),
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
  test('a well-formed one is kept, also in problems', async () => {
    for (const given of ['a', 'A.b_c-9', 'x'.repeat(128)]) {
      expect((await get('/tagged', { 'x-request-id': given })).headers.get('x-request-id')).toBe(given);
      const refused = await get('/nowhere', { 'x-request-id': given });
      expect([refused.headers.get('x-request-id'), (await parseJson(refused)).request_id]).toEqual([
        given,
        given,
      ]);
    }
  });

  test('any other is replaced, so that no header or log line can be forged', async () => {
    for (const given of ['', 'a b', 'x'.repeat(129), 'ä', 'a,b', 'a"b', '<script>', 'a\tb'])
      expect((await get('/tagged', { 'x-request-id': given })).headers.get('x-request-id')).toMatch(
        /^[0-9a-f-]{36}$/,
      );
    for (const odd of ['X-Request-Id: a%0d%0aSet-Cookie: x=1', 'X-Request-Id: a\r\nX-Request-Id: b']) {
      const told = await http.raw(
        `GET /api/v1/tagged HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${odd}\r\n\r\n`,
      );
      expect(told).toMatch(/X-Request-Id: [0-9a-f-]{36}\r\n/i);
      expect(told).not.toMatch(/^set-cookie/im);
    }
  });

  test('each request has one of its own', async () => {
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

  test('If-None-Match that names the tag gives 304 without a body, with the tag', async () => {
    for (const tags of ['"v7"', 'W/"v7"', '"x", "v7"', '*', ' "v7" ']) {
      const told = await get('/tagged', { 'if-none-match': tags });
      expect([told.status, await told.text(), told.headers.get('etag')]).toEqual([304, '', '"v7"']);
      expect(told.headers.get('content-type')).toBeNull();
      expect(told.headers.get('cache-control')).toBe('no-cache');
    }
    for (const tags of ['"v8"', 'v7', '""'])
      expect((await get('/tagged', { 'if-none-match': tags })).status).toBe(200);
  });

  test('If-Match gives its tags; * and no header are no condition', async () => {
    const asked = async (headers: Record<string, string>) => {
      await get('/tagged', headers);
      return call?.ifMatch;
    };
    expect(await asked({})).toBeUndefined();
    expect(await asked({ 'if-match': '*' })).toBeUndefined();
    expect(await asked({ 'if-match': '"a", W/"b", "c"' })).toEqual(['a', 'b', 'c']);
  });
});

describe('bodies of answers', () => {
  test('the next page is a link that keeps the query and cannot break out of its header', async () => {
    const told = await get('/pages?limit=5&cursor=old&x=%3E');
    const [, target = ''] = /^<(.*)>; rel="next"$/.exec(told.headers.get('link') ?? '') ?? [];
    const url = new URL(target, http.origin);
    expect(url.pathname).toBe('/api/v1/pages');
    expect(url.searchParams.getAll('cursor')).toEqual(['a>b "c"\r\nX: y']);
    expect(url.searchParams.get('limit')).toBe('5');
    expect(target).not.toMatch(/[<>\r\n"]/);
    expect(told.headers.get('x')).toBeNull();
  });

  test('nothing is 204 without a body or a type', async () => {
    const told = await http.ask('DELETE', '/api/v1/nothing');
    expect([told.status, told.headers.get('content-type'), await told.text()]).toEqual([204, null, '']);
  });

  test('JSON text is sent as it is', async () => {
    const told = await get('/text');
    expect([told.headers.get('content-type'), await told.text()]).toEqual([
      'application/json',
      '{"spliced": [1 , 2]}',
    ]);
  });

  test('files are sent whole or streamed, in their own type', async () => {
    for (const how of ['whole', 'stream']) {
      const told = await get(`/file?how=${how}`);
      expect([told.headers.get('content-type'), await told.text()]).toEqual(['text/csv', 'a;b\n']);
    }
    expect((await http.ask('HEAD', '/api/v1/file?how=stream')).status).toBe(200);
  });

  test('a stream that breaks is cut off, not ended, and told', async () => {
    await expect(get('/file?how=broken').then((told) => told.text())).rejects.toThrow();
    expect(http.outcomes.at(-1)?.error).toHaveProperty('message', 'the disk is gone');
  });

  test('a client that goes away in the midst of a stream is no mistake of ours', async () => {
    const before = http.outcomes.length;
    const leaving = new AbortController();
    const told = await http.ask('GET', '/api/v1/file?how=endless', { signal: leaving.signal });
    expect(told.status).toBe(200);
    leaving.abort();
    await until('its end', async () => http.outcomes.length > before);
    expect(http.outcomes.at(-1)).not.toHaveProperty('error');
  });

  test('every answer forbids sniffing and framing', async () => {
    for (const path of ['/tagged', '/nowhere', '/fail?how=teapot']) {
      const { headers } = await get(path);
      expect(headers.get('x-content-type-options')).toBe('nosniff');
      expect(headers.get('content-security-policy')).toContain("default-src 'none'");
      // frame-ancestors says it; an operation that may be framed could not take the older header back
      expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
      expect(headers.get('x-frame-options')).toBeNull();
      expect(headers.get('x-powered-by')).toBeNull();
    }
  });
});

describe('problems', () => {
  test('a problem has the shape of RFC 9457, its own members and headers', async () => {
    const told = await get('/fail?how=teapot', { 'x-request-id': 'me' });
    expect([told.status, told.headers.get('content-type'), told.headers.get('x-handle')]).toEqual([
      418,
      'application/problem+json',
      'here',
    ]);
    expect(await parseJson(told)).toEqual({
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

  test('a problem that its operation does not list is a 500 without details, and told whole', async () => {
    const told = await get('/fail?how=unlisted');
    expect(told.status).toBe(500);
    expect(await told.text()).not.toContain('nlisted');
    expect(http.outcomes.at(-1)?.error).toHaveProperty('kind', Unlisted);
  });

  test('any other error is a 500 without details, and told whole', async () => {
    const told = await get('/fail?how=error');
    const text = await told.text();
    expect([told.status, JSON.parse(text).code]).toEqual([500, 'internal']);
    for (const detail of ['hunter2', 'deep', 'Error', '.ts']) expect(text).not.toContain(detail);
    expect(http.outcomes.at(-1)).toMatchObject({
      status: 500,
      problem: 'internal',
      error: { message: 'password=hunter2' },
    });
  });

  test('a header that a handler must not write is a 500, not a header of the caller', async () => {
    const told = await get('/fail?how=header');
    expect([told.status, told.headers.get('set-cookie')]).toEqual([500, null]);
  });
});

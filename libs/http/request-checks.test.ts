/** Tests the order in which a request is checked, and the response to each error. */
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { anyone, id, NotFound, nothing, operation } from '#libs/contract';
import { type HttpFixture, httpFixture, insider, parseJson } from '../testing/http-fixture.ts';
import { handle } from './handle.ts';

const body = z.strictObject({
  name: z.string(),
  size: z.number(),
  inner: z.strictObject({ a: z.string() }).optional(),
});
const changeThing = operation({
  id: 'changeThing',
  method: 'patch',
  path: '/things/{thing_id}',
  summary: 'Change',
  access: insider,
  params: z.object({ thing_id: id }),
  query: z.object({ limit: z.coerce.number().max(10).optional() }),
  body,
  maxBodyBytes: 1_000,
  status: 200,
  returns: z.unknown(),
  problems: [NotFound],
});
const touchThing = operation({
  id: 'touchThing',
  method: 'post',
  path: '/things/{thing_id}',
  summary: 'Touch',
  access: insider,
  params: z.object({ thing_id: id }),
  status: 204,
  returns: nothing,
  problems: [],
});
const listThings = operation({
  id: 'listThings',
  method: 'get',
  path: '/things',
  summary: 'List',
  access: anyone,
  query: z.object({ limit: z.coerce.number().optional() }),
  status: 200,
  returns: z.unknown(),
  problems: [],
});

let http: HttpFixture;
let runs = 0;
const existingId = '01890a5d-ac96-774b-bcce-b302099a8057';
const missingId = '01890a5d-ac96-774b-bcce-b302099a8058';

beforeAll(async () => {
  http = await httpFixture([
    handle(changeThing, async ({ params, body: sent, query }) => {
      runs += 1;
      if (params.thing_id === missingId) throw NotFound();
      return { sent, query };
    }),
    handle(touchThing, async () => undefined),
    handle(listThings, async ({ query }) => query),
  ]);
});
afterAll(() => http?.listening.close(0));

const json = { 'content-type': 'application/json' };
const good = JSON.stringify({ name: 'n', size: 1 });
type Init = Parameters<HttpFixture['ask']>[2];
const change = (init: Init, path = existingId, query = '') =>
  http.ask('PATCH', `/api/v1/things/${path}${query}`, { headers: json, body: good, ...init });
const getStatusAndCode = async (response: Promise<Response>) => {
  const { status, code } = await parseJson(response);
  return `${status} ${code}`;
};

describe('the order of checks', () => {
  const wrong = { body: '{"size":"x"}' };

  test('401 comes before all other checks', async () => {
    for (const as of [null, 'bad'])
      expect(await getStatusAndCode(change({ ...wrong, as }, 'no-id', '?limit=99'))).toBe(
        '401 unauthenticated',
      );
    expect((await change({ as: null })).headers.get('www-authenticate')).toBe('Bearer');
  });

  test('a malformed Authorization header is 401', async () => {
    for (const authorization of [
      'good',
      'Basic good',
      'Bearer',
      'Bearer ',
      'Bearer good bad',
      'Bearer good,bad',
    ]) {
      const response = http.ask('PATCH', `/api/v1/things/${existingId}`, {
        as: null,
        headers: { authorization },
      });
      expect(await getStatusAndCode(response)).toBe('401 unauthenticated');
    }
    const lower = { ...json, authorization: 'bearer   good' };
    expect((await change({ as: null, headers: lower })).status).toBe(200);
  });

  test('403 comes before validation', async () => {
    expect(await getStatusAndCode(change({ ...wrong, as: 'outsider' }, 'no-id'))).toBe('403 forbidden');
  });

  test('400 comes before 404 and lists errors of query and body', async () => {
    const response = await change({ body: '{"size":"x","extra":1,"inner":{"b":1}}' }, 'no-id', '?limit=99');
    expect(response.status).toBe(400);
    const { errors } = await parseJson(response);
    expect(errors.map(({ path }: { path: string }) => path).sort()).toEqual([
      'body/extra',
      'body/inner/a',
      'body/inner/b',
      'body/name',
      'body/size',
      'query/limit',
    ]);
    for (const { message } of errors) expect(message).toMatch(/./);
  });

  test('text that is not valid Unicode is 400 and its parts are named', async () => {
    const errorsOf = async (response: Promise<Response>) => (await parseJson(await response)).errors;
    const halves = String.raw`{"name":"a\ud83d","size":1,"inner":{"a":"\ude00"}}`;
    expect(await errorsOf(change({ body: halves }))).toMatchObject([
      { path: 'body/name', message: expect.stringContaining('Unicode') },
      { path: 'body/inner/a' },
    ]);
    const whole = String.raw`{"name":"\ud83d\ude00","size":1}`;
    expect((await change({ body: whole }, existingId, '?limit=%31')).status).toBe(200);
  });

  test('a 400 reports the paths of its errors for the log, without values', async () => {
    const secret = 'N2dEmAbc-0_xyzN2dEmAbc-0_xyzN2dEmAbc-0_xyz1';
    await change({ body: JSON.stringify({ name: 1, size: secret, [secret]: 1 }) });
    const last = http.outcomes.at(-1);
    expect(last?.errorPaths?.toSorted()).toEqual(['body/*', 'body/name', 'body/size']);
    expect(JSON.stringify(last)).not.toContain(secret);
    await change({});
    expect(http.outcomes.at(-1)).not.toHaveProperty('errorPaths');
  });

  test('a malformed id in the path gives the same 404 as an unknown id', async () => {
    const [malformed, unknown] = [await change({}, 'no-id'), await change({}, missingId)];
    const [malformedBody, unknownBody] = [await parseJson(malformed), await parseJson(unknown)];
    expect(malformed.status).toBe(404);
    expect({ ...malformedBody, request_id: '' }).toEqual({ ...unknownBody, request_id: '' });
    const escapes = ['%00', '%2F', '..%2f..', '%F0%9F%98%80', '%F0', '%', '%zz', `${existingId}%`];
    for (const odd of [...escapes, `${existingId}x`, '{thing_id}'])
      expect(await getStatusAndCode(change({}, odd))).toBe('404 not_found');
  });

  test('a rejected request does not run its handler', async () => {
    runs = 0;
    await change({ as: null });
    await change({ as: 'outsider' });
    await change(wrong);
    await change({}, 'no-id');
    expect(runs).toBe(0);
    await change({});
    expect(runs).toBe(1);
  });
});

describe('bodies', () => {
  const invalidBodies: [string, Init, string][] = [
    ['truncated JSON', { body: '{"name":' }, '400 malformed_json'],
    ['invalid UTF-8', { body: new Uint8Array([0x22, 0xff, 0x22]) }, '400 malformed_json'],
    ['null instead of an object', { body: 'null' }, '400 invalid_request'],
    ['a list instead of an object', { body: '[]' }, '400 invalid_request'],
    ['no content', { body: null }, '400 invalid_request'],
    ['empty text', { body: '' }, '400 invalid_request'],
    [
      'an unsupported media type',
      { headers: { 'content-type': 'text/plain' } },
      '415 unsupported_media_type',
    ],
    [
      'a form media type',
      { headers: { 'content-type': 'application/x-www-form-urlencoded' } },
      '415 unsupported_media_type',
    ],
    ['no media type', { headers: {}, body: Buffer.from(good) }, '415 unsupported_media_type'],
    [
      'an unknown encoding',
      { headers: { ...json, 'content-encoding': 'rot13' } },
      '415 unsupported_media_type',
    ],
    ['invalid gzip data', { headers: { ...json, 'content-encoding': 'gzip' } }, '400 malformed_json'],
    [
      'more bytes than allowed',
      { body: JSON.stringify({ name: 'n'.repeat(1_000), size: 1 }) },
      '413 payload_too_large',
    ],
    [
      'more bytes than allowed after decompression',
      {
        headers: { ...json, 'content-encoding': 'gzip' },
        body: gzipSync(JSON.stringify({ name: 'n'.repeat(50_000), size: 1 })),
      },
      '413 payload_too_large',
    ],
    ['__proto__ as a field', { body: '{"name":"n","size":1,"__proto__":{"a":1}}' }, '400 invalid_request'],
  ];

  test.each(invalidBodies)('a body with %s is rejected', async (_, init, expected) => {
    expect(await getStatusAndCode(change(init))).toBe(expected);
  });

  test('a 413 names the limit', async () => {
    const response = await change({ body: 'x'.repeat(2_000) });
    expect(await parseJson(response)).toMatchObject({
      limit_bytes: 1_000,
      detail: 'The body is larger than 1000 bytes.',
    });
  });

  test('gzip, +json media types and a charset are accepted', async () => {
    const zipped = { headers: { ...json, 'content-encoding': 'gzip' }, body: gzipSync(good) };
    for (const init of [
      zipped,
      { headers: { 'content-type': 'application/merge-patch+json' } },
      { headers: { 'content-type': 'Application/JSON; charset=utf-8' } },
    ])
      expect(await parseJson(change(init))).toMatchObject({ sent: { name: 'n', size: 1 } });
  });

  test('an operation without a body ignores any body', async () => {
    for (const init of [
      { body: '{}', headers: json },
      { body: '{broken', headers: json },
      { body: 'x'.repeat(100_000), headers: { 'content-type': 'text/plain' } },
      { body: '{}', headers: { ...json, 'content-encoding': 'rot13' } },
    ])
      expect((await http.ask('POST', `/api/v1/things/${existingId}`, init)).status).toBe(204);
  });

  test('an incomplete JSON body is not an internal error', async () => {
    const before = http.outcomes.length;
    const head = `PATCH /api/v1/things/${existingId} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer good\r\nContent-Type: application/json\r\n`;
    const { connect } = await import('node:net');
    const socket = connect(http.port, '127.0.0.1');
    socket.write(`${head}Content-Length: 500\r\n\r\n{"na`, () => setImmediate(() => socket.destroy()));
    const { until } = await import('#libs/testing');
    await until('the outcome', async () => http.outcomes.length > before);
    expect(http.outcomes.at(-1)).not.toHaveProperty('error');
  });
});

describe('queries', () => {
  test('unknown parameters are rejected, known ones are validated', async () => {
    expect(await parseJson(http.ask('GET', '/api/v1/things?limit=5'))).toEqual({ limit: 5 });
    for (const query of ['limit=x', 'limit=1&limit=2', 'limit=5&utm=x', 'limit=5&a[b]=c'])
      expect(await getStatusAndCode(http.ask('GET', `/api/v1/things?${query}`))).toBe('400 invalid_request');
  });
});

describe('routes', () => {
  test('an unknown route is 404 without a token', async () => {
    for (const path of [
      '/',
      '/api/v1',
      '/api/v1/thing',
      '/things',
      '/api/v1/things/',
      '/API/v1/things',
      '//api/v1/things',
    ])
      expect(await getStatusAndCode(http.ask('GET', path, { as: null }))).toBe('404 not_found');
  });

  test('a wrong method is 405 with Allow, without a token', async () => {
    const response = await http.ask('DELETE', '/api/v1/things', { as: null });
    expect([response.status, response.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    const otherResponse = await http.ask('GET', `/api/v1/things/${existingId}`, { as: null });
    expect([otherResponse.status, otherResponse.headers.get('allow')]).toEqual([405, 'PATCH, POST']);
    expect(await parseJson(otherResponse)).toMatchObject({ code: 'method_not_allowed' });
  });

  test('HEAD returns the headers of GET without a body', async () => {
    const [get, head] = [
      await http.ask('GET', '/api/v1/things?limit=3'),
      await http.ask('HEAD', '/api/v1/things?limit=3'),
    ];
    expect(head.status).toBe(200);
    for (const name of ['content-type', 'content-length'])
      expect(head.headers.get(name)).toBe(get.headers.get(name));
    expect(await head.text()).toBe('');
    expect((await http.ask('HEAD', '/api/v1/nowhere')).status).toBe(404);
  });

  test('invalid percent-encoding in the query is 400', async () => {
    for (const value of ['%', '%zz', '%ED%A0%80', '%FF']) {
      const response = await http.raw(
        `GET /api/v1/things?limit=3&cursor=${value} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer good\r\n\r\n`,
      );
      expect(response).toMatch(/^HTTP\/1.1 400 [\s\S]*"The query is malformed\./);
    }
    expect(http.errors).toEqual([]);
  });

  test('invalid percent-encoding in the path is 400', async () => {
    for (const path of ['%', '%zz', '%E0%A4%A', '%C0%80']) {
      const response = await http.raw(
        `PATCH /api/v1/things/${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer good\r\n\r\n`,
      );
      expect(response).toMatch(/^HTTP\/1.1 400 [\s\S]*"code":"invalid_request"/);
    }
    expect(http.errors).toEqual([]);
  });
});

/** In which order a request is checked, and what each mistake is answered with. */
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
const there = '01890a5d-ac96-774b-bcce-b302099a8057';
const gone = '01890a5d-ac96-774b-bcce-b302099a8058';

beforeAll(async () => {
  http = await httpFixture([
    handle(changeThing, async ({ params, body: given, query }) => {
      runs += 1;
      if (params.thing_id === gone) throw NotFound();
      return { given, query };
    }),
    handle(touchThing, async () => undefined),
    handle(listThings, async ({ query }) => query),
  ]);
});
afterAll(() => http?.listening.close(0));

const json = { 'content-type': 'application/json' };
const good = JSON.stringify({ name: 'n', size: 1 });
type Init = Parameters<HttpFixture['ask']>[2];
const change = (init: Init, path = there, query = '') =>
  http.ask('PATCH', `/api/v1/things/${path}${query}`, { headers: json, body: good, ...init });
const codeOf = async (answer: Promise<Response>) => {
  const { status, code } = await parseJson(answer);
  return `${status} ${code}`;
};

describe('the order of checks', () => {
  const wrong = { body: '{"size":"x"}' };

  test('401 comes before everything', async () => {
    for (const as of [null, 'bad'])
      expect(await codeOf(change({ ...wrong, as }, 'no-id', '?limit=99'))).toBe('401 unauthenticated');
    expect((await change({ as: null })).headers.get('www-authenticate')).toBe('Bearer');
  });

  test('a credential of another form is none', async () => {
    for (const authorization of [
      'good',
      'Basic good',
      'Bearer',
      'Bearer ',
      'Bearer good bad',
      'Bearer good,bad',
    ]) {
      const answer = http.ask('PATCH', `/api/v1/things/${there}`, { as: null, headers: { authorization } });
      expect(await codeOf(answer)).toBe('401 unauthenticated');
    }
    const lower = { ...json, authorization: 'bearer   good' };
    expect((await change({ as: null, headers: lower })).status).toBe(200);
  });

  test('403 of the access comes before the form', async () => {
    expect(await codeOf(change({ ...wrong, as: 'outsider' }, 'no-id'))).toBe('403 forbidden');
  });

  test('400 comes before 404, with the mistakes of query and body at once', async () => {
    const answer = await change({ body: '{"size":"x","extra":1,"inner":{"b":1}}' }, 'no-id', '?limit=99');
    expect(answer.status).toBe(400);
    const { errors } = await parseJson(answer);
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

  test('a 400 reports the paths of its errors for the log, without values', async () => {
    const secret = 'N2dEmAbc-0_xyzN2dEmAbc-0_xyzN2dEmAbc-0_xyz1';
    await change({ body: JSON.stringify({ name: 1, size: secret, [secret]: 1 }) });
    const last = http.outcomes.at(-1);
    expect(last?.errorPaths?.toSorted()).toEqual(['body/*', 'body/name', 'body/size']);
    expect(JSON.stringify(last)).not.toContain(secret);
    await change({});
    expect(http.outcomes.at(-1)).not.toHaveProperty('errorPaths');
  });

  test('an id in the path that is ill-formed is 404, as one that is not there', async () => {
    const [ill, absent] = [await change({}, 'no-id'), await change({}, gone)];
    const [one, other] = [await parseJson(ill), await parseJson(absent)];
    expect(ill.status).toBe(404);
    expect({ ...one, request_id: '' }).toEqual({ ...other, request_id: '' });
    for (const odd of ['%00', '%2F', '..%2f..', `${there}x`, '{thing_id}', '%F0%9F%98%80'])
      expect(await codeOf(change({}, odd))).toBe('404 not_found');
  });

  test('no handler runs for a request that was refused', async () => {
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
  const mistakes: [string, Init, string][] = [
    ['no JSON', { body: '{"name":' }, '400 malformed_json'],
    ['invalid UTF-8', { body: new Uint8Array([0x22, 0xff, 0x22]) }, '400 malformed_json'],
    ['null', { body: 'null' }, '400 invalid_request'],
    ['a list', { body: '[]' }, '400 invalid_request'],
    ['nothing', { body: null }, '400 invalid_request'],
    ['empty text', { body: '' }, '400 invalid_request'],
    ['another media type', { headers: { 'content-type': 'text/plain' } }, '415 unsupported_media_type'],
    [
      'a form',
      { headers: { 'content-type': 'application/x-www-form-urlencoded' } },
      '415 unsupported_media_type',
    ],
    ['no media type', { headers: {}, body: Buffer.from(good) }, '415 unsupported_media_type'],
    [
      'an unknown encoding',
      { headers: { ...json, 'content-encoding': 'rot13' } },
      '415 unsupported_media_type',
    ],
    ['what claims to be gzip', { headers: { ...json, 'content-encoding': 'gzip' } }, '400 malformed_json'],
    ['too much', { body: JSON.stringify({ name: 'n'.repeat(1_000), size: 1 }) }, '413 payload_too_large'],
    [
      'too much once unzipped',
      {
        headers: { ...json, 'content-encoding': 'gzip' },
        body: gzipSync(JSON.stringify({ name: 'n'.repeat(50_000), size: 1 })),
      },
      '413 payload_too_large',
    ],
    ['__proto__ as a field', { body: '{"name":"n","size":1,"__proto__":{"a":1}}' }, '400 invalid_request'],
  ];

  test.each(mistakes)('%s is refused', async (_, init, expected) => {
    expect(await codeOf(change(init))).toBe(expected);
  });

  test('the limit is named', async () => {
    const answer = await change({ body: 'x'.repeat(2_000) });
    expect(await parseJson(answer)).toMatchObject({
      limit_bytes: 1_000,
      detail: 'The body is larger than 1000 bytes.',
    });
  });

  test('gzip, other JSON types and a charset are understood', async () => {
    const zipped = { headers: { ...json, 'content-encoding': 'gzip' }, body: gzipSync(good) };
    for (const init of [
      zipped,
      { headers: { 'content-type': 'application/merge-patch+json' } },
      { headers: { 'content-type': 'Application/JSON; charset=utf-8' } },
    ])
      expect(await parseJson(change(init))).toMatchObject({ given: { name: 'n', size: 1 } });
  });

  test('an operation without a body ignores any body', async () => {
    for (const init of [
      { body: '{}', headers: json },
      { body: '{broken', headers: json },
      { body: 'x'.repeat(100_000), headers: { 'content-type': 'text/plain' } },
      { body: '{}', headers: { ...json, 'content-encoding': 'rot13' } },
    ])
      expect((await http.ask('POST', `/api/v1/things/${there}`, init)).status).toBe(204);
  });

  test('a body that breaks off is no mistake of ours', async () => {
    const before = http.outcomes.length;
    const head = `PATCH /api/v1/things/${there} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer good\r\nContent-Type: application/json\r\n`;
    const { connect } = await import('node:net');
    const socket = connect(http.port, '127.0.0.1');
    socket.write(`${head}Content-Length: 500\r\n\r\n{"na`, () => setImmediate(() => socket.destroy()));
    const { until } = await import('#libs/testing');
    await until('its end', async () => http.outcomes.length > before);
    expect(http.outcomes.at(-1)).not.toHaveProperty('error');
  });
});

describe('queries', () => {
  test('unknown parameters are refused, known ones are checked', async () => {
    expect(await parseJson(http.ask('GET', '/api/v1/things?limit=5'))).toEqual({ limit: 5 });
    for (const query of ['limit=x', 'limit=1&limit=2', 'limit=5&utm=x', 'limit=5&a[b]=c'])
      expect(await codeOf(http.ask('GET', `/api/v1/things?${query}`))).toBe('400 invalid_request');
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
      expect(await codeOf(http.ask('GET', path, { as: null }))).toBe('404 not_found');
  });

  test('a wrong method is 405 and names the right ones, without a token', async () => {
    const answer = await http.ask('DELETE', '/api/v1/things', { as: null });
    expect([answer.status, answer.headers.get('allow')]).toEqual([405, 'GET, HEAD']);
    const other = await http.ask('GET', `/api/v1/things/${there}`, { as: null });
    expect([other.status, other.headers.get('allow')]).toEqual([405, 'PATCH, POST']);
    expect(await parseJson(other)).toMatchObject({ code: 'method_not_allowed' });
  });

  test('HEAD is answered like GET, without a body', async () => {
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

  test('nonsense in percent-encoding is the caller’s mistake', async () => {
    for (const path of ['%', '%zz', '%E0%A4%A', '%C0%80']) {
      const answer = await http.raw(
        `PATCH /api/v1/things/${path} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer good\r\n\r\n`,
      );
      expect(answer).toMatch(/^HTTP\/1.1 400 [\s\S]*"code":"invalid_request"/);
    }
    expect(http.errors).toEqual([]);
  });
});

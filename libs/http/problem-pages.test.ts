/** Tests for HTML problem pages, and for what a handler knows about the client's preferences. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { anyone, body, media, NotFound, operation } from '#libs/contract';
import { type HttpFixture, httpFixture, parseJson } from '../testing/http-fixture.ts';
import { createAdmission } from './admission.ts';
import { handle, type Route, reply, withProblemPages } from './handle.ts';

const common = { method: 'get', summary: '', access: anyone, status: 200, problems: [NotFound] } as const;
const two = media({ 'application/json': { description: 'a' }, 'text/html': { description: 'b' } });
const read = operation({
  ...common,
  id: 'read',
  path: '/read/{how}',
  params: z.object({ how: z.string() }),
  query: z.object({ format: z.enum(['json', 'html']).optional() }),
  returns: two,
  problemPages: true,
});
const plain = operation({ ...common, id: 'plain', path: '/plain', returns: two });

let http: HttpFixture;

beforeAll(async () => {
  http = await httpFixture(createRoutes());
});
afterAll(() => http?.listening.close(0));

function createRoutes(): Route[] {
  const route = handle(read, async ({ params: { how }, call }) => {
    if (how === 'nothing') throw NotFound(undefined, { headers: { 'X-Problem': 'yes' } });
    if (how === 'broken') throw new Error('password=hunter2');
    const seen = { prefersHtml: call.prefersHtml, acceptsGzip: call.acceptsGzip, has: call.hasCurrent('v7') };
    return reply(body('application/json', JSON.stringify(seen)), { headers: { Vary: 'Accept' } });
  });
  return [
    withProblemPages(route, ({ kind }, { prefersHtml, requestId }, { format }) =>
      prefersHtml && format !== 'json'
        ? { html: `<p>${kind.status} ${requestId}</p>`, headers: { 'Content-Security-Policy': 'sandbox' } }
        : undefined,
    ),
    handle(plain, async () => {
      throw NotFound();
    }),
  ];
}

const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
const get = (path: string, headers: Record<string, string> = {}) =>
  http.ask('GET', `/api/v1${path}`, { headers, as: null });

test.each([
  ['/read/nothing', 404],
  ['/read/nothing?format=xml', 400],
  ['/read/broken', 500],
])('a client that prefers HTML gets %s as a page', async (path, status) => {
  const response = await get(path, { accept: browser, 'x-request-id': 'me' });
  expect([response.status, response.headers.get('content-type'), await response.text()]).toEqual([
    status,
    'text/html; charset=utf-8',
    `<p>${status} me</p>`,
  ]);
  expect(response.headers.get('content-security-policy')).toBe('sandbox');
  expect(response.headers.get('x-problem')).toBe(path === '/read/nothing' ? 'yes' : null);
});

test('other clients get the problem as JSON', async () => {
  for (const accept of ['*/*', 'application/json', 'application/json, text/html', 'image/png'])
    expect((await parseJson(get('/read/nothing', { accept }))).code).toBe('not_found');
  expect((await parseJson(get('/read/nothing?format=json', { accept: browser }))).code).toBe('not_found');
  expect((await parseJson(get('/plain', { accept: browser }))).code).toBe('not_found');
});

test('a problem page is reported like any problem', async () => {
  await get('/read/broken', { accept: browser });
  expect(http.outcomes.at(-1)).toMatchObject({ status: 500, error: { message: 'password=hunter2' } });
});

test('an overloaded process rejects with a page, too', async () => {
  const overloaded = await httpFixture(createRoutes(), { admission: createAdmission({ maxInProgress: 0 }) });
  const headers = { accept: browser, 'x-request-id': 'me' };
  const response = await overloaded.ask('GET', '/api/v1/read/it', { headers, as: null });
  const page = await response.text();
  await overloaded.listening.close(0);
  expect([response.status, response.headers.get('retry-after'), page]).toEqual([503, '1', '<p>503 me</p>']);
});

test.each([
  [browser, true],
  ['text/html', true],
  ['text/*;q=0.9, application/json;q=0.8', true],
  ['application/json, text/html;q=0.9', false],
  ['*/*', false],
  ['', false],
])('Accept %j sets prefersHtml to %j', async (accept, prefersHtml) => {
  expect(await parseJson(get('/read/it', { accept }))).toMatchObject({ prefersHtml });
});

test.each([
  ['gzip, deflate, br, zstd', true],
  ['br;q=1.0, gzip;q=0.5', true],
  ['*', true],
  ['identity', false],
  ['br', false],
  ['gzip;q=0', false],
  ['', false],
])('Accept-Encoding %j sets acceptsGzip to %j', async (encodings, acceptsGzip) => {
  const headers = { 'accept-encoding': encodings };
  expect(await parseJson(get('/read/it', headers))).toMatchObject({ acceptsGzip });
});

test('hasCurrent is true if If-None-Match contains the ETag', async () => {
  for (const tags of ['"v7"', 'W/"v7"', '"x", "v7"', '*'])
    expect(await parseJson(get('/read/it', { 'if-none-match': tags }))).toMatchObject({ has: true });
  for (const tags of ['"v8"', 'v7'])
    expect(await parseJson(get('/read/it', { 'if-none-match': tags }))).toMatchObject({ has: false });
  expect(await parseJson(get('/read/it'))).toMatchObject({ has: false });
});

test('withProblemPages throws for an operation without problemPages', () => {
  expect(() =>
    withProblemPages(
      handle(plain, async () => body('text/html', '')),
      () => undefined,
    ),
  ).toThrow('plain');
});

/**
 * Problems as pages, for operations that declare them; and what a handler may know of a client's preferences.
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { anyone, body, media, NotFound, operation } from '#libs/contract';
import { type HttpFixture, httpFixture, parseJson } from '../testing/http-fixture.ts';
import { handle, reply, withProblemPages } from './handle.ts';

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
  const handled = handle(read, async ({ params: { how }, call }) => {
    if (how === 'nothing') throw NotFound(undefined, { headers: { 'X-Kept': 'yes' } });
    if (how === 'broken') throw new Error('password=hunter2');
    const said = { prefersHtml: call.prefersHtml, has: call.hasCurrent('v7') };
    return reply(body('application/json', JSON.stringify(said)), { headers: { Vary: 'Accept' } });
  });
  http = await httpFixture([
    withProblemPages(handled, ({ kind }, { prefersHtml, requestId }, { format }) =>
      prefersHtml && format !== 'json'
        ? { html: `<p>${kind.status} ${requestId}</p>`, headers: { 'Content-Security-Policy': 'sandbox' } }
        : undefined,
    ),
    handle(plain, async () => {
      throw NotFound();
    }),
  ]);
});
afterAll(() => http?.listening.close(0));

const browser = 'text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8';
const get = (path: string, headers: Record<string, string> = {}) =>
  http.ask('GET', `/api/v1${path}`, { headers, as: null });

test.each([
  ['/read/nothing', 404],
  ['/read/nothing?format=xml', 400],
  ['/read/broken', 500],
])('who prefers HTML gets %s as a page', async (path, status) => {
  const told = await get(path, { accept: browser, 'x-request-id': 'me' });
  expect([told.status, told.headers.get('content-type'), await told.text()]).toEqual([
    status,
    'text/html; charset=utf-8',
    `<p>${status} me</p>`,
  ]);
  expect(told.headers.get('content-security-policy')).toBe('sandbox');
  expect(told.headers.get('x-kept')).toBe(path === '/read/nothing' ? 'yes' : null);
});

test('anyone else gets it as JSON', async () => {
  for (const accept of ['*/*', 'application/json', 'application/json, text/html', 'image/png'])
    expect((await parseJson(get('/read/nothing', { accept }))).code).toBe('not_found');
  expect((await parseJson(get('/read/nothing?format=json', { accept: browser }))).code).toBe('not_found');
  expect((await parseJson(get('/plain', { accept: browser }))).code).toBe('not_found');
});

test('a page of a problem is told as a problem', async () => {
  await get('/read/broken', { accept: browser });
  expect(http.outcomes.at(-1)).toMatchObject({ status: 500, error: { message: 'password=hunter2' } });
});

test.each([
  [browser, true],
  ['text/html', true],
  ['text/*;q=0.9, application/json;q=0.8', true],
  ['application/json, text/html;q=0.9', false],
  ['*/*', false],
  ['', false],
])('Accept %j prefers HTML: %j', async (accept, prefersHtml) => {
  expect(await parseJson(get('/read/it', { accept }))).toMatchObject({ prefersHtml });
});

test('a handler may know which answer the client has', async () => {
  for (const tags of ['"v7"', 'W/"v7"', '"x", "v7"', '*'])
    expect(await parseJson(get('/read/it', { 'if-none-match': tags }))).toMatchObject({ has: true });
  for (const tags of ['"v8"', 'v7'])
    expect(await parseJson(get('/read/it', { 'if-none-match': tags }))).toMatchObject({ has: false });
  expect(await parseJson(get('/read/it'))).toMatchObject({ has: false });
});

test('an operation that does not declare problem pages cannot have them', () => {
  expect(() =>
    withProblemPages(
      handle(plain, async () => body('text/html', '')),
      () => undefined,
    ),
  ).toThrow('plain');
});

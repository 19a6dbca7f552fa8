/** Tests that a cursor is sealed, and works only for its list, its filters and its organization. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { operation, page, parseCursor } from '#libs/contract';
import { ada, type HttpFixture, httpFixture, insider, parseJson } from '../testing/http-fixture.ts';
import { handle, toPage } from './handle.ts';

const common = { method: 'get', summary: '', access: insider, status: 200, problems: [] } as const;
const filters = { color: z.string().optional(), since: z.iso.datetime().optional() };
const query = z.object({ ...page, ...filters });
const listThings = operation({
  ...common,
  id: 'listThings',
  path: '/things',
  query,
  paged: true,
  returns: z.unknown(),
});
const listOthers = operation({
  ...common,
  id: 'listOthers',
  path: '/others',
  query,
  paged: true,
  returns: z.unknown(),
});
const listParts = operation({
  ...common,
  id: 'listParts',
  path: '/things/{thing_id}/parts',
  params: z.object({ thing_id: z.string() }),
  query,
  paged: true,
  returns: z.unknown(),
});
const things = ['first', 'second', 'third'];

let http: HttpFixture;
beforeAll(async () => {
  const routes = [listThings, listOthers, listParts].map((list) =>
    handle(list, async ({ query: { limit, cursor } }) => {
      const [start] = parseCursor(cursor, z.tuple([z.number()])) ?? [0];
      const position = (last: string): [number] => [things.indexOf(last) + 1];
      return toPage({ found: things.slice(start), limit, toItem: (thing) => thing, position });
    }),
  );
  const principals = { ada, bo: { ...ada, organization_id: 'another' } };
  http = await httpFixture(routes, {
    authenticate: async (token) => new Map(Object.entries(principals)).get(token),
  });
});
afterAll(() => http?.listening.close(0));

const get = (path: string, as = 'ada') => http.ask('GET', `/api/v1${path}`, { as });
const getCursor = async (path: string) => {
  const link = (await get(path)).headers.get('link') ?? '';
  return /[?&]cursor=([^&>]+)/.exec(link)?.[1] ?? '';
};

/** Replaces the last two characters by others. */
const changeEnd = (cursor: string) => cursor.slice(0, -2) + (cursor.endsWith('AA') ? 'BA' : 'AA');

test('a cursor continues its list, also with another page size', async () => {
  const cursor = await getCursor('/things?limit=1&color=red');
  expect(await parseJson(get(`/things?limit=1&color=red&cursor=${cursor}`))).toEqual(['second']);
  expect(await parseJson(get(`/things?limit=9&color=red&cursor=${cursor}`))).toEqual(['second', 'third']);
  expect(await parseJson(get(`/things?cursor=${cursor}&limit=1&color=red`))).toEqual(['second']);
});

test('a cursor works only for the list of the same path', async () => {
  const cursor = await getCursor('/things/a/parts?limit=1');
  expect(await parseJson(get(`/things/a/parts?limit=1&cursor=${cursor}`))).toEqual(['second']);
  expect((await get(`/things/b/parts?limit=1&cursor=${cursor}`)).status).toBe(400);
});

test('a cursor reveals nothing, and no two are equal', async () => {
  const [one, other] = [await getCursor('/things?limit=1'), await getCursor('/things?limit=1')];
  expect(one).toMatch(/^[\w.-]+$/);
  expect(one).not.toBe(other);
  for (const part of one.split('.'))
    expect(Buffer.from(part, 'base64url').toString('latin1')).not.toMatch(/^\[/);
});

test.each([
  ['another list', (cursor: string) => get(`/others?limit=1&cursor=${cursor}`)],
  ['another filter', (cursor: string) => get(`/things?limit=1&color=red&cursor=${cursor}`)],
  ['another organization', (cursor: string) => get(`/things?limit=1&cursor=${cursor}`, 'bo')],
  ['a changed cursor', (cursor: string) => get(`/things?limit=1&cursor=${changeEnd(cursor)}`)],
  ['a cut cursor', (cursor: string) => get(`/things?limit=1&cursor=${cursor.slice(0, 20)}`)],
  [
    'a cursor that is not sealed',
    () => get(`/things?limit=1&cursor=${Buffer.from('[1]').toString('base64url')}`),
  ],
  ['a position', () => get(`/things?limit=1&cursor=${encodeURIComponent('[1]')}`)],
])('a cursor is 400 with %s', async (_what, ask) => {
  const response = await ask(await getCursor('/things?limit=1'));
  expect(response.status).toBe(400);
  expect((await parseJson(response)).errors).toEqual([
    { path: 'query/cursor', message: 'This cursor does not belong to this list' },
  ]);
});

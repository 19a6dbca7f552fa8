/** Tests which methods a fixed path answers beside a path with a parameter. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { operation } from '#libs/contract';
import { type HttpFixture, httpFixture, insider } from '../testing/http-fixture.ts';
import { handle } from './handle.ts';
import { groupByPath } from './paths.ts';

const common = { summary: '', access: insider, status: 200, problems: [], returns: z.unknown() } as const;
const params = z.object({ id: z.string() });
const changeThing = operation({
  ...common,
  id: 'changeThing',
  method: 'patch',
  path: '/things/{id}',
  params,
});
const getThing = operation({ ...common, id: 'getThing', method: 'get', path: '/things/{id}', params });
const countThings = operation({ ...common, id: 'countThings', method: 'get', path: '/things/counts' });
const share = operation({
  ...common,
  id: 'share',
  method: 'get',
  at: 'root',
  path: '/shared/{id}',
  params,
  crossOrigin: true,
});

let http: HttpFixture;
beforeAll(async () => {
  const operations = [changeThing, getThing, countThings, share];
  http = await httpFixture(operations.map((each) => handle(each, async () => each.id)));
});
afterAll(() => http?.listening.close(0));

test('a fixed path answers before a path with a parameter', async () => {
  const getJson = async (path: string) => (await http.ask('GET', `/api/v1${path}`)).json();
  expect(await getJson('/things/counts')).toBe('countThings');
  expect(await getJson('/things/1')).toBe('getThing');
});

test.each([
  ['PATCH', '/api/v1/things/counts', 'GET, HEAD'],
  ['OPTIONS', '/api/v1/things/counts', 'GET, HEAD'],
  ['DELETE', '/api/v1/things/1', 'PATCH, GET, HEAD'],
  ['POST', '/shared/1', 'GET, HEAD, OPTIONS'],
])('%s %s is 405 with the methods of this path', async (method, path, allow) => {
  const response = await http.ask(method, path);
  expect([response.status, response.headers.get('allow')]).toEqual([405, allow]);
  const allowed = allow.split(', ');
  for (const each of ['GET', 'HEAD', 'OPTIONS', 'PATCH', 'POST', 'PUT', 'DELETE'])
    expect([each, (await http.ask(each, path)).status === 405]).toEqual([each, !allowed.includes(each)]);
});

test('paths are sorted by their first difference, fixed segments first', () => {
  const paths = ['/a/:x/c', '/:x', '/a/b/:y', '/a/:x/:y', '/a'];
  expect(groupByPath([...paths, '/a'], (path) => path).map(([path, all]) => [path, all.length])).toEqual([
    ['/a', 2],
    ['/a/b/:y', 1],
    ['/a/:x/c', 1],
    ['/a/:x/:y', 1],
    ['/:x', 1],
  ]);
});

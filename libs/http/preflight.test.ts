/** Tests for CORS preflight requests. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { anyone, operation } from '#libs/contract';
import { type HttpFixture, httpFixture } from '../testing/http-fixture.ts';
import { handle, reply } from './handle.ts';

const common = { method: 'get', summary: '', access: anyone, status: 200, problems: [] } as const;
const returns = z.unknown();
const readShared = operation({
  ...common,
  id: 'readShared',
  at: 'root',
  path: '/shared/{id}',
  params: z.object({ id: z.string() }),
  returns,
  etag: true,
  crossOrigin: true,
});
const readPlain = operation({ ...common, id: 'readPlain', path: '/plain', returns, crossOrigin: true });
const writePlain = operation({ ...common, id: 'writePlain', method: 'post', path: '/plain', returns });
const readOwn = operation({ ...common, id: 'readOwn', path: '/own', returns, etag: true });

let http: HttpFixture;
let runs = 0;

beforeAll(async () => {
  const run = async () => {
    runs += 1;
    return reply({}, { etag: '1' });
  };
  const operations = [readShared, readPlain, writePlain, readOwn];
  http = await httpFixture(operations.map((each) => handle(each, run)));
});
afterAll(() => http?.listening.close(0));

const headers = {
  origin: 'https://intranet.example',
  'access-control-request-method': 'GET',
  'access-control-request-headers': 'if-none-match',
};
const preflight = (path: string) => http.ask('OPTIONS', path, { as: null, headers });
const getCorsHeaders = (response: Response) =>
  Object.fromEntries([...response.headers].filter(([name]) => name.startsWith('access-control-')));

test('a preflight is 204 with the allowed methods and headers', async () => {
  const response = await preflight('/shared/1');
  expect([response.status, await response.text(), response.headers.get('allow')]).toEqual([
    204,
    '',
    'GET, HEAD, OPTIONS',
  ]);
  expect(getCorsHeaders(response)).toEqual({
    'access-control-allow-origin': '*',
    'access-control-allow-methods': 'GET, HEAD',
    'access-control-allow-headers': 'If-None-Match',
    'access-control-max-age': '86400',
  });
  expect(runs).toBe(0);
});

test('Allow has all methods of the path, CORS those of the operation', async () => {
  const { headers } = await preflight('/api/v1/plain');
  expect(headers.get('allow')).toBe('GET, POST, HEAD, OPTIONS');
  expect(headers.get('access-control-allow-methods')).toBe('GET, HEAD');
});

test('If-None-Match is allowed only for operations with an ETag', async () => {
  const response = await preflight('/api/v1/plain');
  expect([response.status, response.headers.get('access-control-allow-headers')]).toEqual([204, null]);
});

test('other operations send no CORS headers', async () => {
  for (const path of ['/api/v1/own', '/api/v1/nothing', '/shared']) {
    const response = await preflight(path);
    expect([path, getCorsHeaders(response)]).toEqual([path, {}]);
  }
});

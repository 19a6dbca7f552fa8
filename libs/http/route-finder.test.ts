/** Tests that the route of a request is found. */
import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { anyone, operation } from '#libs/contract';
import { createRouteFinder } from './route-finder.ts';

const common = { summary: '', access: anyone, status: 200, problems: [], returns: z.unknown() } as const;
const params = z.object({ id: z.string() });
const operations = [
  operation({ ...common, id: 'getThing', method: 'get', path: '/things/{id}', params }),
  operation({ ...common, id: 'changeThing', method: 'patch', path: '/things/{id}', params }),
  operation({ ...common, id: 'countThings', method: 'get', path: '/things/counts' }),
  operation({ ...common, id: 'share', method: 'get', at: 'root', path: '/shared/{id}', params }),
];
const findRoute = createRouteFinder(
  operations.map((each) => ({ operation: each })),
  '/api/v1',
);

test.each([
  ['GET', '/api/v1/things/7', 'getThing'],
  ['HEAD', '/api/v1/things/7', 'getThing'],
  ['PATCH', '/api/v1/things/%2F', 'changeThing'],
  ['GET', '/api/v1/things/counts', 'countThings'],
  ['PATCH', '/api/v1/things/counts', undefined],
  ['GET', '/shared/7', 'share'],
  ['DELETE', '/api/v1/things/7', undefined],
  ['OPTIONS', '/api/v1/things/7', undefined],
  ['GET', '/api/v1/things/', undefined],
  ['GET', '/api/v1/things/7/', undefined],
  ['GET', '/api/v1/Things/7', undefined],
  ['GET', '/api/v1/shared/7', undefined],
  ['GET', '', undefined],
])('%s %s is %s', (method, path, id) => {
  expect(findRoute(method, path)?.operation.id).toBe(id);
});

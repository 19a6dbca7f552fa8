/** Tests that the routes of a path are found. */
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
const findRoutes = createRouteFinder(
  operations.map((each) => ({ operation: each })),
  '/api/v1',
);

test.each([
  ['/api/v1/things/7', ['getThing', 'changeThing']],
  ['/api/v1/things/%2F', ['getThing', 'changeThing']],
  ['/api/v1/things/counts', ['countThings']],
  ['/shared/7', ['share']],
  ['/api/v1/things/', []],
  ['/api/v1/things/7/', []],
  ['/api/v1/Things/7', []],
  ['/api/v1/shared/7', []],
  ['', []],
])('%s has the routes %j', (path, ids) => {
  expect(findRoutes(path).map(({ operation: { id } }) => id)).toEqual(ids);
});

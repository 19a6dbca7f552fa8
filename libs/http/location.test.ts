/** Tests for the `Location` header of created resources. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { body, json, media, operation } from '#libs/contract';
import { type HttpFixture, httpFixture, insider, memoryResponseStore } from '../testing/http-fixture.ts';
import { handle, reply } from './handle.ts';

const common = { method: 'post', summary: '', access: insider, status: 201, problems: [] } as const;
const returns = z.unknown();
const create = operation({ ...common, id: 'create', path: '/things', location: '/things/{id}', returns });
const splice = operation({ ...common, id: 'splice', path: '/spliced', location: '/things/{id}', returns });
const createLarge = operation({
  ...common,
  id: 'createLarge',
  path: '/large',
  location: '/things/{id}',
  returns,
});
const attach = operation({
  ...common,
  id: 'attach',
  path: '/things/{thing_id}/label',
  params: z.object({ thing_id: z.string() }),
  location: '/things/{thing_id}/label',
  returns,
});
const createFile = operation({
  ...common,
  id: 'createFile',
  path: '/files',
  location: '/files/{id}',
  returns: media({ 'text/csv': { description: 'x' } }),
});
const plain = operation({ ...common, id: 'plain', path: '/plain', returns });

let http: HttpFixture;

beforeAll(async () => {
  const routes = [
    handle(create, async () => ({ name: 'n', id: 'a/b' })),
    handle(splice, async () => json(Buffer.from('{"id":"01890a5d-ac96","nodes":[{"id":"other"}]}'))),
    handle(
      createLarge,
      async () => reply({ id: 'first', text: 'x'.repeat(100) }, { replayKey: { id: 'first' } }),
      {
        replay: async (_, { id = '' }) => ({ id, text: 'again' }),
      },
    ),
    handle(attach, async () => null),
    handle(createFile, async () => body('text/csv', 'a')),
    handle(plain, async () => ({ id: 'x' })),
  ];
  http = await httpFixture(routes, { store: memoryResponseStore({ longest: 50 }) });
});
afterAll(() => http?.listening.close(0));

const getLocation = async (path: string, headers: Record<string, string> = {}) =>
  (await http.ask('POST', `/api/v1${path}`, { headers })).headers.get('location');

test('Location has the API prefix and the id of the response', async () => {
  expect(await getLocation('/things')).toBe('/api/v1/things/a%2Fb');
  expect(await getLocation('/spliced')).toBe('/api/v1/things/01890a5d-ac96');
});

test('Location takes other names from the path parameters', async () => {
  expect(await getLocation('/things/7/label')).toBe('/api/v1/things/7/label');
});

test('an operation without a declared location has no Location', async () => {
  expect(await getLocation('/plain')).toBeNull();
});

test('a declared location with a response that is not JSON is a 500', async () => {
  expect((await http.ask('POST', '/api/v1/files')).status).toBe(500);
});

test('a replayed or rendered again response has the same Location', async () => {
  for (const [path, expected] of [
    ['/things', '/api/v1/things/a%2Fb'],
    ['/large', '/api/v1/things/first'],
  ] as const) {
    const headers = { 'idempotency-key': `key-${path.length}` };
    const first = await http.ask('POST', `/api/v1${path}`, { headers });
    const again = await http.ask('POST', `/api/v1${path}`, { headers });
    expect(again.headers.get('idempotency-replayed')).toBe('true');
    for (const response of [first, again]) expect(response.headers.get('location')).toBe(expected);
  }
});

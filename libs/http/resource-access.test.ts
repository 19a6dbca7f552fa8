/** Tests access rules that depend on a resource: who is denied, and handlers that forget to check. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Access, Forbidden, nothing, operation } from '#libs/contract';
import { ada, type HttpFixture, httpFixture, insider, parseJson } from '../testing/http-fixture.ts';
import { handle, type Principal } from './handle.ts';

/** Only the owner of a thing may change it. */
const owner: Access<Principal, { owner: string }> = {
  ...insider,
  problems: [Forbidden],
  resource: {
    allows: (principal, thing) => thing.owner === principal.user_id,
    deny: () => Forbidden('Only the owner may change this thing.'),
  },
};
const common = { summary: '', status: 204, returns: nothing, problems: [] } as const;
const putOwn = operation({ ...common, id: 'putOwn', method: 'put', path: '/own', access: owner });
const putForeign = operation({ ...common, id: 'putForeign', method: 'put', path: '/foreign', access: owner });
const forget = operation({ ...common, id: 'forget', method: 'put', path: '/forgotten', access: owner });
const useless = operation({ ...common, id: 'useless', method: 'put', path: '/useless', access: insider });

let http: HttpFixture;
beforeAll(async () => {
  http = await httpFixture([
    handle(putOwn, async ({ authorize }) => void authorize({ owner: ada.user_id })),
    handle(putForeign, async ({ authorize }) => void authorize({ owner: 'somebody else' })),
    handle(forget, async () => undefined),
    // the type of a rule without a resource does not allow the call
    handle(useless, async ({ authorize }) => void authorize({} as never)),
  ]);
});
afterAll(() => http?.listening.close(0));

test('the rule of the operation decides about the resource', async () => {
  expect(await http.ask('PUT', '/api/v1/own')).toMatchObject({ status: 204 });
  expect(await parseJson(http.ask('PUT', '/api/v1/foreign'))).toMatchObject({
    status: 403,
    code: 'forbidden',
    detail: 'Only the owner may change this thing.',
  });
});

test('a handler that does not authorize its resource is an internal error', async () => {
  expect(await parseJson(http.ask('PUT', '/api/v1/forgotten'))).toMatchObject({ status: 500 });
});

test('a POST must say who may see its stored response', () => {
  const post = operation({ ...common, id: 'post', method: 'post', path: '/post', access: owner });
  expect(() => handle(post, async () => undefined)).toThrow('The handler of post needs authorizeReplay');
});

test('a handler cannot authorize a resource without a rule for it', async () => {
  expect(await parseJson(http.ask('PUT', '/api/v1/useless'))).toMatchObject({ status: 500 });
});

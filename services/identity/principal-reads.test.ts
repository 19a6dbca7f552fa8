/**
 * What it takes to know who is asking, as MongoDB itself counted it: it is paid with every request to every
 * service.
 */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Person, profileCommands, register, type TestApp, testApp } from '#libs/testing';
import { contracts } from '../contracts.ts';
import { identity } from './service.ts';

let here: TestApp;
let ada: Person;

beforeAll(async () => {
  here = await testApp({ services: [identity], contracts });
  // somebody among others, so that a scan would be seen
  await Promise.all(Array.from({ length: 8 }, () => register(here)));
  ada = await register(here);
  for (const as of [ada.token, ada.key]) await roles(as);
}, 60_000);
afterAll(() => here?.stop());

/** Asks for what is answered without MongoDB. */
async function roles(as: string): Promise<void> {
  expect((await here.request('GET', '/roles', { as })).status).toBe(200);
}

const who =
  /^(api_key_principals|member_states|members|api_keys|users|organizations|subscriptions?(_terms)?)$/;

/**
 * What MongoDB was asked about people while work was done; that a key was used is written behind the answer.
 */
async function reads(work: () => Promise<void>) {
  const seen = (await profileCommands(here.db, work)).filter(
    ({ collection, op }) => who.test(collection) && op !== 'update',
  );
  return seen.map(({ collection, plan, keysExamined, docsExamined }) => ({
    collection,
    plan,
    keysExamined,
    docsExamined,
  }));
}

test('a session: one read, answered from an index alone', async () => {
  expect(await reads(() => roles(ada.token))).toEqual([
    { on: 'member_states', plan: expect.stringMatching(/^IXSCAN/), keysExamined: 1, docsExamined: 0 },
  ]);
});

test('an API key: one read of its row by its hash and, joined to it, of its member’s', async () => {
  expect(await reads(() => roles(ada.key))).toEqual([
    {
      ...{ on: 'api_key_principals', plan: 'IXSCAN { hash: 1 }' },
      ...{ keysExamined: 2, docsExamined: 2 },
    },
  ]);
});

test('a key that cannot be one, and a token that nobody signed: no read', async () => {
  const mistyped = ada.key.slice(0, -6) + (ada.key.at(-6) === 'x' ? 'y' : 'x') + ada.key.slice(-5);
  const refused = async () => {
    for (const as of ['nonsense', mistyped, `${ada.token.slice(0, -9)}${'A'.repeat(9)}`])
      expect((await here.request('GET', '/roles', { as })).status).toBe(401);
  };
  expect(await reads(refused)).toEqual([]);
});

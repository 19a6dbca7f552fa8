/** The reads of authentication in MongoDB, which every request to every service pays for. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type Person, profileCommands, register, type TestApp, testApp } from '#libs/testing';
import { contracts } from '../contracts.ts';
import { identity } from '../testing/services.ts';

let app: TestApp;
let ada: Person;

beforeAll(async () => {
  app = await testApp({ services: [identity], contracts });
  // other users, so that a collection scan would show
  await Promise.all(Array.from({ length: 8 }, () => register(app)));
  ada = await register(app);
  for (const as of [ada.token, ada.key]) await roles(as);
});
afterAll(() => app?.stop());

/** Requests the roles, which need no read of their own. */
async function roles(as: string): Promise<void> {
  expect((await app.request('GET', '/roles', { as })).status).toBe(200);
}

const identityCollections =
  /^(api_key_principals|member_states|members|api_keys|users|organizations|subscriptions?(_terms)?)$/;

/** The reads of identity during `work`. Updates are left out: key usage is recorded after the response. */
async function reads(work: () => Promise<void>) {
  const commands = (await profileCommands(app.db, work)).filter(
    ({ collection, op }) => identityCollections.test(collection) && op !== 'update',
  );
  return commands.map(({ collection, plan, keysExamined, docsExamined }) => ({
    collection,
    plan,
    keysExamined,
    docsExamined,
  }));
}

test('an access token costs one read, covered by an index', async () => {
  expect(await reads(() => roles(ada.token))).toEqual([
    { collection: 'member_states', plan: expect.stringMatching(/^IXSCAN/), keysExamined: 1, docsExamined: 0 },
  ]);
});

test('an API key costs one read of the key by hash, joined with the member', async () => {
  expect(await reads(() => roles(ada.key))).toEqual([
    {
      ...{ collection: 'api_key_principals', plan: 'IXSCAN { hash: 1 }' },
      ...{ keysExamined: 2, docsExamined: 2 },
    },
  ]);
});

test('concurrent requests of several organizations are not mixed up', async () => {
  const people = [ada, ...(await Promise.all(Array.from({ length: 5 }, () => register(app))))];
  const credentials = people.flatMap(({ token, key, organizationId }) =>
    [token, key].map((as) => ({ as, organizationId })),
  );
  const read = async ({ as, organizationId }: (typeof credentials)[number]) => {
    const { body } = await app.request('GET', '/organization', { as });
    expect(body).toMatchObject({ id: organizationId });
  };
  await Promise.all(Array.from({ length: 5 }, () => credentials.map(read)).flat());
});

test('a mistyped key and a token with a wrong signature cost no read', async () => {
  const mistyped = ada.key.slice(0, -6) + (ada.key.at(-6) === 'x' ? 'y' : 'x') + ada.key.slice(-5);
  const rejected = async () => {
    for (const as of ['nonsense', mistyped, `${ada.token.slice(0, -9)}${'A'.repeat(9)}`])
      expect((await app.request('GET', '/roles', { as })).status).toBe(401);
  };
  expect(await reads(rejected)).toEqual([]);
});

test('the views of identity contain no password and no private key', async () => {
  for (const name of [
    'api_key_principals',
    'member_states',
    'signing_keys_public',
    'organization_profiles',
    'subscription_terms',
  ]) {
    const row = await app.db.collection(name).findOne();
    expect(row).not.toBeNull();
    expect(JSON.stringify(row)).not.toMatch(/password|sealed|scrypt/);
  }
});

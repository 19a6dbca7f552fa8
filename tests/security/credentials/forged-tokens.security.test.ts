/** Tests that every service rejects forged access tokens, altered API keys and unusual Authorization headers. */
import { generateKeyPairSync } from 'node:crypto';
import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import { apiClient, type Person, register, type TestApp, testApp } from '#libs/testing';
import { contracts } from '../../../services/contracts.ts';
import { services } from '../../../services/testing/services.ts';
import { alterKey, createToken, forgeTokens, type KnownKey } from './forged-tokens.ts';

/** A path of each service that any member may read. */
const paths = {
  identity: '/me',
  documents: '/documents',
  sharing: `/documents/${newId()}/share-token`,
  export: '/templates',
  'webhook-delivery': '/webhooks',
};
const services404 = ['sharing'];

let app: TestApp;
let ada: Person;
let bob: Person;
const known = createKey();
let member: { sub: string; org: string };
let forged: Record<string, string>;

beforeAll(async () => {
  app = await testApp({ services, contracts });
  const jwk = { ...known.publicKey.export({ format: 'jwk' }), kid: known.kid, alg: 'ES256', use: 'sig' };
  const row = { _id: known.kid, public_jwk: JSON.stringify(jwk), sealed_private: '', created_at: new Date() };
  // never signs, because it would start to sign in the far future
  await app.db
    .collection<{ _id: string }>('signing_keys')
    .insertOne({ ...row, signs_from: new Date('2999-01-01') } as { _id: string });
  // the services read the published keys with the first token
  [ada, bob] = await Promise.all([register(app), register(app)]);
  member = { sub: ada.userId, org: ada.organizationId };
  forged = forgeTokens(known, member, { sub: bob.userId, org: bob.organizationId });
});
afterAll(() => app?.stop());

function createKey(): KnownKey {
  return { kid: newId(), ...generateKeyPairSync('ec', { namedCurve: 'P-256' }) };
}

async function getStatuses(as: string): Promise<Record<string, number>> {
  const entries = Object.entries(paths).map(async ([service, path]) => {
    // without the search for secrets in the log: some of these credentials are ids
    const { status, body } = await apiClient(app.origin).request('GET', path, { as });
    if (status === 401) expect(body.code).toBe('unauthenticated');
    return [service, status] as const;
  });
  return Object.fromEntries(await Promise.all(entries));
}

const everywhere = (status: number) =>
  Object.fromEntries(
    Object.keys(paths).map((name) => [name, status === 200 && services404.includes(name) ? 404 : status]),
  );

test('every service accepts a token that is signed with the published key', async () => {
  expect(await getStatuses(createToken(known, member))).toEqual(everywhere(200));
  expect(await getStatuses(ada.key)).toEqual(everywhere(200));
});

describe('every service rejects a token with', () => {
  const nobody = { sub: newId(), org: newId() };
  const names = Object.keys(forgeTokens(createKey(), nobody, nobody));
  test.each(names)('%s', async (name) => {
    expect(await getStatuses(forged[name] ?? '')).toEqual(everywhere(401));
  });
});

test('every service rejects an API key with any altered part', async () => {
  const [row] = await app.db.collection('api_keys').find({ organization_id: ada.organizationId }).toArray();
  const altered = alterKey(ada.key, { id: String(row?._id), hash: String(row?.hash) });
  for (const [name, key] of Object.entries(altered))
    expect([name, await getStatuses(key)]).toEqual([name, everywhere(401)]);
  expect(Object.keys(altered).length).toBeGreaterThan(50);
});

describe('a credential counts only in the Authorization header', () => {
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  const places = {
    'Basic credentials': () => ({ authorization: `Basic ${base64(`ada:${ada.key}`)}` }),
    'a key without a scheme': () => ({ authorization: ada.key }),
    'two keys': () => ({ authorization: `Bearer ${ada.key} ${bob.key}` }),
    'two keys with a comma': () => ({ authorization: `Bearer ${ada.key}, Bearer ${bob.key}` }),
    'a key in quotes': () => ({ authorization: `Bearer "${ada.key}"` }),
    'another scheme': () => ({ authorization: `Token ${ada.key}` }),
    'an empty header': () => ({ authorization: '' }),
    'only the scheme': () => ({ authorization: 'Bearer ' }),
    'a cookie': () => ({ cookie: `token=${ada.key}; authorization=Bearer ${ada.key}` }),
    'X-API-Key': () => ({ 'x-api-key': ada.key }),
    'Proxy-Authorization': () => ({ 'proxy-authorization': `Bearer ${ada.key}` }),
    'X-Original-Authorization': () => ({ 'x-original-authorization': `Bearer ${ada.key}` }),
  };
  test.each(Object.entries(places))('%s', async (_, createHeaders) => {
    const headers = createHeaders() as Record<string, string>;
    for (const path of Object.values(paths))
      expect([path, (await app.request('GET', path, { headers })).status]).toEqual([path, 401]);
  });

  test('a key in the query is rejected and not logged', async () => {
    for (const name of ['access_token', 'token', 'api_key', 'key'])
      expect((await app.request('GET', `/me?${name}=${ada.key}`)).status).toBe(401);
    const lines = app.logLines().map((line) => JSON.stringify(line));
    expect(lines.filter((line) => line.includes(ada.key))).toEqual([]);
  });

  test('two Authorization headers are 400, whatever they contain', async () => {
    const send = (first: string, second: string) =>
      new Promise<number | undefined>((resolve, reject) => {
        const headers = ['Host', 'localhost', 'Authorization', `Bearer ${first}`];
        const all = [...headers, 'Authorization', `Bearer ${second}`];
        const request = httpRequest(`${app.origin}/api/v1/me`, { headers: all }, (response) => {
          response.resume();
          resolve(response.statusCode);
        });
        request.on('error', reject).end();
      });
    expect(await send('nonsense', ada.key)).toBe(400);
    expect(await send(ada.key, 'nonsense')).toBe(400);
    expect(await send(ada.key, ada.key)).toBe(400);
  });
});

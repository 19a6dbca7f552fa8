/** Details of rejected credentials and the expiry of new keys, over HTTP with a real MongoDB. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Person, register, type TestApp, testApp } from '#libs/testing';
import { contracts } from '../contracts.ts';
import { identity } from '../testing/services.ts';
import { formatApiKey } from './rules/api-key.ts';

let app: TestApp;
let ada: Person;
let aheadMs = 0;
let clock = Date.now;

beforeAll(async () => {
  const now = () => new Date(clock() + aheadMs);
  app = await testApp({ services: [identity], contracts, now });
  ada = await register(app);
});
afterAll(() => app?.stop());

const corrupt = (text: string, at: number) =>
  text.slice(0, at) + (text[at] === 'x' ? 'y' : 'x') + text.slice(at + 1);

async function getRejection(as: string): Promise<string> {
  const { status, body, headers } = await app.request('GET', '/me', { as });
  expect([status, body.code]).toEqual([401, 'unauthenticated']);
  expect(headers.get('www-authenticate')).toBe(
    `Bearer error="invalid_token", error_description="${body.detail}"`,
  );
  return body.detail;
}

async function createKey(expires_at: string | null = null): Promise<{ id: string; key: string }> {
  const created = await app.request('POST', '/api-keys', {
    as: ada.token,
    body: { name: 'Robot', expires_at },
  });
  expect(created.status).toBe(201);
  return created.body;
}

describe('a rejected API key', () => {
  test('a key with a wrong checksum is reported as mistyped', async () => {
    for (const key of [corrupt(ada.key, 10), corrupt(ada.key, 50), 'pds_short'])
      expect(await getRejection(key)).toMatch(/^This API key is mistyped/);
  });

  test('a revoked and an unknown key get the same detail', async () => {
    const { id, key } = await createKey();
    expect((await app.request('DELETE', `/api-keys/${id}`, { as: ada.token })).status).toBe(204);
    const revoked = await getRejection(key);
    expect(revoked).toBe('This API key is unknown or was revoked: create a new one.');
    expect(await getRejection(formatApiKey(randomBytes(32)))).toBe(revoked);
  });

  test('a key past its expiry is reported as expired', async () => {
    const { key } = await createKey(new Date(Date.now() + 60_000).toISOString());
    expect((await app.request('GET', '/me', { as: key })).status).toBe(200);
    aheadMs = 61_000;
    const detail = await getRejection(key);
    aheadMs = 0;
    expect(detail).toBe('This API key has expired: create a new one.');
  });
});

describe('the expiry of a new key', () => {
  test.each([
    ['in the past', -1],
    ['now', 0],
  ])('a key that expires %s is rejected with 400', async (_name, offsetMs) => {
    const at = Date.now() + 3_600_000;
    clock = () => at;
    const expires_at = new Date(at + offsetMs).toISOString();
    const created = await app.request('POST', '/api-keys', {
      as: ada.key,
      body: { name: 'Robot', expires_at },
    });
    clock = Date.now;
    expect(created.status).toBe(400);
    expect(created.body.errors).toEqual([{ path: 'body/expires_at', message: 'Must be in the future' }]);
  });

  test('a key that expires one millisecond ahead is created', async () => {
    const at = Date.now() + 3_600_000;
    clock = () => at;
    const expires_at = new Date(at + 1).toISOString();
    const created = await app.request('POST', '/api-keys', {
      as: ada.key,
      body: { name: 'Robot', expires_at },
    });
    clock = Date.now;
    expect([created.status, created.body.expires_at]).toEqual([201, expires_at]);
  });
});

describe('a rejected access token', () => {
  test('an expired token is reported as expired, cached or not', async () => {
    const fresh = await register(app);
    const later = 900_000 + 61_000;
    for (const token of [ada.token, fresh.token]) {
      if (token === ada.token) expect((await app.request('GET', '/me', { as: token })).status).toBe(200);
      aheadMs = later;
      const detail = await getRejection(token);
      aheadMs = 0;
      expect(detail).toMatch(/^This access token has expired: .*POST \/auth\/refresh/);
    }
  });

  test('a token with a wrong signature is invalid, expired or not', async () => {
    const forged = corrupt(ada.token, ada.token.length - 10);
    const detail = await getRejection(forged);
    expect(detail).toMatch(/^This access token is not valid/);
    aheadMs = 961_000;
    const late = await getRejection(forged);
    aheadMs = 0;
    expect([late, await getRejection('nonsense')]).toEqual([detail, detail]);
  });

  test('a token of a removed member is reported as an ended session', async () => {
    const leaver = await register(app);
    await app.db.collection('members').deleteMany({ organization_id: leaver.organizationId });
    expect(await getRejection(leaver.token)).toBe('This session has ended: log in again.');
    expect(await getRejection(leaver.key)).toMatch(/unknown or was revoked/);
  });
});

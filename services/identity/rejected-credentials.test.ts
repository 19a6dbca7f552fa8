/**
 * Why a credential does not count, as its sender reads it, and when a key may expire; over HTTP with a real
 * MongoDB.
 */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type Person, register, type TestApp, testApp } from '#libs/testing';
import { contracts } from '../contracts.ts';
import { formatApiKey } from './rules/api-key.ts';
import { identity } from './service.ts';

let here: TestApp;
let ada: Person;
let aheadMs = 0;
let clock = Date.now;

beforeAll(async () => {
  const now = () => new Date(clock() + aheadMs);
  here = await testApp({ services: [identity], contracts, now });
  ada = await register(here);
}, 60_000);
afterAll(() => here?.stop());

const corrupt = (text: string, at: number) =>
  text.slice(0, at) + (text[at] === 'x' ? 'y' : 'x') + text.slice(at + 1);

async function refusalOf(as: string): Promise<string> {
  const { status, body, headers } = await here.request('GET', '/me', { as });
  expect([status, body.code]).toEqual([401, 'unauthenticated']);
  expect(headers.get('www-authenticate')).toBe(
    `Bearer error="invalid_token", error_description="${body.detail}"`,
  );
  return body.detail;
}

async function makeKey(expires_at: string | null = null): Promise<{ id: string; key: string }> {
  const made = await here.request('POST', '/api-keys', {
    as: ada.token,
    body: { name: 'Robot', expires_at },
  });
  expect(made.status).toBe(201);
  return made.body;
}

describe('an API key that does not count', () => {
  test('is told to be mistyped when its checksum is wrong', async () => {
    for (const key of [corrupt(ada.key, 10), corrupt(ada.key, 50), 'pds_short'])
      expect(await refusalOf(key)).toMatch(/^This API key is mistyped/);
  });

  test('reads the same whether it was revoked or never existed', async () => {
    const { id, key } = await makeKey();
    expect((await here.request('DELETE', `/api-keys/${id}`, { as: ada.token })).status).toBe(204);
    const revoked = await refusalOf(key);
    expect(revoked).toBe('This API key is unknown or was revoked: create a new one.');
    expect(await refusalOf(formatApiKey(randomBytes(32)))).toBe(revoked);
  });

  test('is told to have expired once its time is over', async () => {
    const { key } = await makeKey(new Date(Date.now() + 60_000).toISOString());
    expect((await here.request('GET', '/me', { as: key })).status).toBe(200);
    aheadMs = 61_000;
    const detail = await refusalOf(key);
    aheadMs = 0;
    expect(detail).toBe('This API key has expired: create a new one.');
  });
});

describe('the expiry of a new key', () => {
  test.each([
    ['in the past', -1],
    ['now', 0],
  ])('%s is 400', async (_name, offsetMs) => {
    const at = Date.now() + 3_600_000;
    clock = () => at;
    const expires_at = new Date(at + offsetMs).toISOString();
    const made = await here.request('POST', '/api-keys', {
      as: ada.key,
      body: { name: 'Robot', expires_at },
    });
    clock = Date.now;
    expect(made.status).toBe(400);
    expect(made.body.errors).toEqual([{ path: 'body/expires_at', message: 'Must be in the future' }]);
  });

  test('just ahead is taken', async () => {
    const at = Date.now() + 3_600_000;
    clock = () => at;
    const expires_at = new Date(at + 1).toISOString();
    const made = await here.request('POST', '/api-keys', {
      as: ada.key,
      body: { name: 'Robot', expires_at },
    });
    clock = Date.now;
    expect([made.status, made.body.expires_at]).toEqual([201, expires_at]);
  });
});

describe('an access token that does not count', () => {
  test('is told to have expired, also when it was seen before', async () => {
    const fresh = await register(here);
    const later = 900_000 + 61_000;
    for (const token of [ada.token, fresh.token]) {
      if (token === ada.token) expect((await here.request('GET', '/me', { as: token })).status).toBe(200);
      aheadMs = later;
      const detail = await refusalOf(token);
      aheadMs = 0;
      expect(detail).toMatch(/^This access token has expired: .*POST \/auth\/refresh/);
    }
  });

  test('is not valid when its signature is wrong, expired or not', async () => {
    const forged = corrupt(ada.token, ada.token.length - 10);
    const detail = await refusalOf(forged);
    expect(detail).toMatch(/^This access token is not valid/);
    aheadMs = 961_000;
    const late = await refusalOf(forged);
    aheadMs = 0;
    expect([late, await refusalOf('nonsense')]).toEqual([detail, detail]);
  });

  test('belongs to a session that has ended when its member was removed', async () => {
    const leaver = await register(here);
    await here.db.collection('members').deleteMany({ organization_id: leaver.organizationId });
    expect(await refusalOf(leaver.token)).toBe('This session has ended: log in again.');
    expect(await refusalOf(leaver.key)).toMatch(/unknown or was revoked/);
  });
});

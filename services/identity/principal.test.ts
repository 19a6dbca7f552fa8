/** Authentication over in-memory views: when public keys are read, and which tokens are rejected. */
import { generateKeyPairSync } from 'node:crypto';
import { expect, test } from '@jest/globals';
import jwt from 'jsonwebtoken';
import { newId, RejectedToken, type View } from '#libs/contract';
import type { Store } from '#libs/store';
import { createPrincipalReader, issuer } from './principal.ts';
import { liveSessions, memberStates, publicKeys } from './views.ts';

const organization_id = newId();
const user_id = newId();
const kid = newId();
const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });

function createToken(keyid: string, more: object = {}): string {
  const claims = {
    sub: user_id,
    org: organization_id,
    sid: 'session',
    epoch: 0,
    iat: 0,
    iss: issuer,
    aud: issuer,
    exp: 4_000_000_000,
    ...more,
  };
  return jwt.sign(claims, pair.privateKey, { algorithm: 'ES256', keyid });
}

/** Views over one member without sessions and one key, unless it `isDeleted`; counts how often they were read. */
function createViews(sessions_ended_at?: Date) {
  const counts = { reads: 0, sessionReads: 0, isDeleted: false };
  const member = { organization_id, user_id, role: 'member', session_epoch: 0, sessions_ended_at };
  const read = (view: View) => {
    const finder = {
      one: async () => {
        if (view === liveSessions) counts.sessionReads += 1;
        return undefined;
      },
      many: async () => {
        if (view === memberStates) return [member];
        if (view === publicKeys) counts.reads += 1;
        await new Promise((resolve) => setImmediate(resolve));
        if (counts.isDeleted) return [];
        return [{ _id: kid, public_jwk: JSON.stringify(pair.publicKey.export({ format: 'jwk' })) }];
      },
    };
    return { in: () => finder, unscoped: () => finder };
  };
  // the fakes implement only what the reader uses
  const transact = async () => undefined;
  return { counts, store: { read, transact } as unknown as Pick<Store, 'read' | 'transact'> };
}

test('concurrent first requests read the public keys once', async () => {
  const { counts, store } = createViews();
  const authenticate = createPrincipalReader(store, () => new Date());
  const principals = await Promise.all(
    Array.from({ length: 20 }, (_, at) => authenticate(createToken(kid, { jti: `${at}` }))),
  );
  expect(
    principals.filter((principal) => 'user_id' in principal && principal.user_id === user_id),
  ).toHaveLength(20);
  expect(counts.reads).toBe(1);
});

test('an unknown key id rereads the keys at most once in ten seconds', async () => {
  const { counts, store } = createViews();
  let at = Date.now();
  const authenticate = createPrincipalReader(store, () => new Date(at));
  for (let tries = 0; tries < 5; tries += 1)
    expect(await authenticate(createToken(newId()))).toBeInstanceOf(RejectedToken);
  expect(counts.reads).toBe(1);
  at += 10_001;
  expect(await authenticate(createToken(newId()))).toBeInstanceOf(RejectedToken);
  expect(counts.reads).toBe(2);
});

test('tokens of a deleted key are rejected within a minute, cached or not', async () => {
  const { counts, store } = createViews();
  let at = Date.now();
  const authenticate = createPrincipalReader(store, () => new Date(at));
  const [cached, other] = [createToken(kid, { jti: 'cached' }), createToken(kid, { jti: 'other' })];
  expect(await authenticate(cached)).toHaveProperty('user_id');
  counts.isDeleted = true;
  at += 59_999;
  for (const token of [cached, other]) expect(await authenticate(token)).toHaveProperty('user_id');
  expect(counts.reads).toBe(1);
  at += 1;
  for (const token of [cached, other])
    expect(await authenticate(token)).toEqual({ reason: expect.stringMatching(/is not valid/) });
  expect(counts.reads).toBe(2);
});

test.each([
  ['another issuer', { iss: 'another-issuer' }, /is not valid/],
  ['another audience', { aud: 'another-audience' }, /is not valid/],
  ['an expiry in the past', { exp: 1 }, /has expired/],
  ['a start in the future', { nbf: 3_999_999_999 }, /is not valid/],
  ['no user', { sub: 'not-a-user-id' }, /is not valid/],
  ['sessions that have ended', { epoch: 1 }, /session has ended/],
])('a token with %s is rejected with a reason', async (_name, more, reason) => {
  const { store } = createViews();
  const rejected = await createPrincipalReader(store, () => new Date())(createToken(kid, more));
  expect(rejected).toEqual({ reason: expect.stringMatching(reason) });
});

test('an expired token with a wrong signature is rejected as invalid', async () => {
  const { store } = createViews();
  const authenticate = createPrincipalReader(store, () => new Date());
  const stranger = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey;
  const forged = jwt.sign({ exp: 1 }, stranger, { algorithm: 'ES256', keyid: kid });
  expect(await authenticate(forged)).toEqual(await authenticate('nonsense'));
});

test('token times are checked with a clock tolerance of 60 seconds', async () => {
  const at = 1_800_000_000;
  const authenticateWith = (more: object) => {
    const authenticate = createPrincipalReader(createViews().store, () => new Date(at * 1000));
    return authenticate(createToken(kid, more));
  };
  expect(await authenticateWith({ exp: at - 59 })).toHaveProperty('user_id');
  expect(await authenticateWith({ exp: at - 60 })).toEqual({ reason: expect.stringMatching(/expired/) });
  expect(await authenticateWith({ nbf: at + 60 })).toHaveProperty('user_id');
  expect(await authenticateWith({ nbf: at + 61 })).toEqual({ reason: expect.stringMatching(/not valid/) });
});

test.each([
  ['issued before a session of the member ended', -60, 1],
  ['issued when a session of the member ended', 0, 1],
  ['issued within the clock tolerance after it', 60, 1],
  ['issued later', 61, 0],
])('the session of a token is read if the token was %s', async (_name, offset, reads) => {
  const ended = 1_800_000_000;
  const { counts, store } = createViews(new Date(ended * 1000));
  const principal = await createPrincipalReader(
    store,
    () => new Date(ended * 1000),
  )(createToken(kid, { iat: ended + offset }));
  expect(counts.sessionReads).toBe(reads);
  if (reads === 0) expect(principal).toHaveProperty('user_id');
  else expect(principal).toEqual({ reason: expect.stringMatching(/session has ended/) });
});

test('a cached token expires', async () => {
  const { store } = createViews();
  let at = Date.now();
  const authenticate = createPrincipalReader(store, () => new Date(at));
  const token = createToken(kid, { exp: Math.floor(at / 1000) + 60 });
  expect(await authenticate(token)).toHaveProperty('user_id');
  // within the clock tolerance of 60 seconds
  at += 115_000;
  expect(await authenticate(token)).toHaveProperty('user_id');
  at += 6_000;
  expect(await authenticate(token)).toEqual({ reason: expect.stringMatching(/expired/) });
});

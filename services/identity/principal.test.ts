/** Who is asking, over views in memory: when the public keys are read. */
import { generateKeyPairSync } from 'node:crypto';
import { expect, test } from '@jest/globals';
import jwt from 'jsonwebtoken';
import { newId, type View } from '#libs/contract';
import type { Store } from '#libs/store';
import { issuer, principalFrom } from './principal.ts';
import { memberStates, publicKeys } from './views.ts';

const organization_id = newId();
const user_id = newId();
const kid = newId();
const pair = generateKeyPairSync('ec', { namedCurve: 'P-256' });

function tokenUnder(keyid: string, more: object = {}): string {
  const claims = {
    sub: user_id,
    org: organization_id,
    iss: issuer,
    aud: issuer,
    exp: 4_000_000_000,
    ...more,
  };
  return jwt.sign(claims, pair.privateKey, { algorithm: 'ES256', keyid });
}

/** The views over one member and one key; `reads` counts how often the keys were read. */
function views() {
  const seen = { reads: 0 };
  const read = (view: View) => {
    const finder = {
      one: async () =>
        view === memberStates ? { organization_id, user_id, role: 'member', session_epoch: 0 } : undefined,
      many: async () => {
        if (view === publicKeys) seen.reads += 1;
        await new Promise((resolve) => setImmediate(resolve));
        return [{ _id: kid, public_jwk: JSON.stringify(pair.publicKey.export({ format: 'jwk' })) }];
      },
    };
    return { in: () => finder, anywhere: () => finder };
  };
  // the rows have what the verifier needs of the real ones
  const transact = async () => undefined;
  return { seen, store: { read, transact } as unknown as Pick<Store, 'read' | 'transact'> };
}

test('the first requests after a start may come all at once', async () => {
  const { seen, store } = views();
  const ask = principalFrom(store, () => new Date());
  const askers = await Promise.all(
    Array.from({ length: 20 }, (_, at) => ask(tokenUnder(kid, { jti: `${at}` }))),
  );
  expect(askers.filter((asking) => asking?.user_id === user_id)).toHaveLength(20);
  expect(seen.reads).toBe(1);
});

test('an unknown key id has the keys read again, at most once in ten seconds', async () => {
  const { seen, store } = views();
  let at = Date.now();
  const ask = principalFrom(store, () => new Date(at));
  for (let tries = 0; tries < 5; tries += 1) expect(await ask(tokenUnder(newId()))).toBeUndefined();
  expect(seen.reads).toBe(1);
  at += 10_001;
  expect(await ask(tokenUnder(newId()))).toBeUndefined();
  expect(seen.reads).toBe(2);
});

test.each([
  ['another issuer', { iss: 'somebody' }],
  ['another audience', { aud: 'somebody' }],
  ['an expiry in the past', { exp: 1 }],
  ['a beginning in the future', { nbf: 3_999_999_999 }],
  ['no user', { sub: 'nobody' }],
  ['sessions that have ended', { epoch: 1 }],
])('a token with %s stands for nobody', async (_name, more) => {
  const { store } = views();
  expect(await principalFrom(store, () => new Date())(tokenUnder(kid, more))).toBeUndefined();
});

test('clocks may be a minute apart and no more, at either end of a token’s time', async () => {
  const at = 1_800_000_000;
  const asking = (more: object) => {
    const ask = principalFrom(views().store, () => new Date(at * 1000));
    return ask(tokenUnder(kid, more));
  };
  expect(await asking({ exp: at - 59 })).toBeDefined();
  expect(await asking({ exp: at - 60 })).toBeUndefined();
  expect(await asking({ nbf: at + 60 })).toBeDefined();
  expect(await asking({ nbf: at + 61 })).toBeUndefined();
});

test('a remembered token expires all the same', async () => {
  const { store } = views();
  let at = Date.now();
  const ask = principalFrom(store, () => new Date(at));
  const token = tokenUnder(kid, { exp: Math.floor(at / 1000) + 60 });
  expect(await ask(token)).toBeDefined();
  // clocks may be a minute apart, and no more
  at += 115_000;
  expect(await ask(token)).toBeDefined();
  at += 6_000;
  expect(await ask(token)).toBeUndefined();
});

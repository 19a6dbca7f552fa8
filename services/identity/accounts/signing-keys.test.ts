/** Rotation of signing keys, over rows in memory with a fake clock. */
import { expect, test } from '@jest/globals';
import jwt from 'jsonwebtoken';
import { newId, RejectedToken, Secret, type View } from '#libs/contract';
import { createKeyring, createSealing, type Store } from '#libs/store';
import { createPrincipalReader } from '../principal.ts';
import { findCurrentKey, findExpiredKeys, isRotationDue } from '../rules/key-rotation.ts';
import { type SigningKeyRow, sealedPrivate } from '../store/collections.ts';
import type { SigningKeyRepository } from '../store/signing-keys.ts';
import { memberStates } from '../views.ts';
import { createTokenSigner } from './signing-keys.ts';

const organization_id = newId();
const user_id = newId();
const session = { _id: newId(), organization_id, user_id, epoch: 0 };
const dayMs = 86_400_000;

function createFixture() {
  let at = Date.parse('2026-11-21T09:30:00.000Z');
  const rows: SigningKeyRow[] = [];
  const auditLines: unknown[] = [];
  const signingKeys = {
    list: async () => [...rows],
    insert: async (row: SigningKeyRow) => void rows.push(row),
    delete: async (kid: string) => {
      const at = rows.findIndex(({ _id }) => _id === kid);
      if (at >= 0) rows.splice(at, 1);
      return at >= 0;
    },
  };
  const read = (view: View) => {
    const finder = {
      one: async () => undefined,
      many: async () =>
        view === memberStates ? [{ organization_id, user_id, role: 'member', session_epoch: 0 }] : [...rows],
    };
    return { in: () => finder, unscoped: () => finder };
  };
  const now = () => new Date(at);
  // the fakes implement only what the reader uses
  const store = { read, transact: async () => undefined } as unknown as Pick<Store, 'read' | 'transact'>;
  const keyring = createKeyring(new Secret(Buffer.alloc(32, 7).toString('base64')));
  const sealing = createSealing(keyring, sealedPrivate);
  const signer = () =>
    createTokenSigner({
      signingKeys: signingKeys as unknown as SigningKeyRepository,
      sealing,
      securityLog: ({ event, actor_id, details }) => void auditLines.push([event, actor_id, details.kid]),
      now,
      accessTokenSeconds: 900,
    });
  return {
    rows,
    auditLines,
    now,
    signer,
    verifier: () => createPrincipalReader(store, now),
    advance: (ms: number) => (at += ms),
  };
}

const getKid = (token: string) => jwt.decode(token, { complete: true })?.header.kid;

test('no token is rejected during a rotation, on any replica', async () => {
  const { signer, verifier, advance } = createFixture();
  const [first, second] = [signer(), signer()];
  await first.prepare();
  await second.prepare();
  const verifiers = [verifier(), verifier()];
  const tokens: { text: string; createdAt: number }[] = [];
  const firstKid = getKid(await first.createToken(session));
  const kid = await first.rotate('operator');
  let elapsed = 0;
  for (; elapsed < 180_000; elapsed += 5_000) {
    for (const replica of [first, second])
      tokens.push({ text: await replica.createToken(session), createdAt: elapsed });
    for (const verify of verifiers)
      for (const { text, createdAt } of tokens)
        if (elapsed - createdAt < 900_000) expect(await verify(text)).not.toBeInstanceOf(RejectedToken);
    advance(5_000);
  }
  expect(getKid(tokens[0]?.text ?? '')).toBe(firstKid);
  expect(getKid(tokens.at(-1)?.text ?? '')).toBe(kid);
});

test('a signing key is rotated once when due and deleted when unused', async () => {
  const { rows, auditLines, signer, advance } = createFixture();
  const replica = signer();
  await replica.prepare();
  await replica.rotateIfDue(30);
  expect(rows).toHaveLength(1);
  advance(30 * dayMs);
  await replica.rotateIfDue(30);
  await replica.rotateIfDue(30);
  expect(rows).toHaveLength(2);
  advance(60_000 + 3_600_000 - 1);
  await replica.rotateIfDue(30);
  expect(rows).toHaveLength(2);
  advance(1);
  await Promise.all([replica.rotateIfDue(30), signer().rotateIfDue(30)]);
  expect(rows).toHaveLength(1);
  // each event is recorded once, although two replicas run
  const [first, second] = [auditLines[0], auditLines[1]].map((line) => (line as string[])[2]);
  expect(auditLines).toEqual([
    ['signing_key.create', 'system', first],
    ['signing_key.create', 'system', second],
    ['signing_key.delete', 'system', first],
  ]);
});

test('tokens are signed with a new key after an operator deleted all', async () => {
  const { rows, signer, verifier, advance } = createFixture();
  const replica = signer();
  await replica.prepare();
  const verify = verifier();
  const old = await replica.createToken(session);
  expect(await verify(old)).not.toBeInstanceOf(RejectedToken);
  rows.splice(0);
  advance(15_000);
  expect(await verify(await replica.createToken(session))).not.toBeInstanceOf(RejectedToken);
  expect(await verify(old)).toBeInstanceOf(RejectedToken);
});

test('private keys are stored encrypted', async () => {
  const { rows, signer } = createFixture();
  await signer().prepare();
  expect(JSON.stringify(rows)).not.toContain('PRIVATE KEY');
  expect(rows[0]?.public_jwk).not.toContain('"d"');
});

test('the newest key whose time has come signs, or else the oldest', () => {
  const key = (id: string, time: number) => ({ _id: id, signs_from: new Date(time) });
  expect(findCurrentKey([], new Date(5))).toBeUndefined();
  expect(findCurrentKey([key('a', 10)], new Date(5))?._id).toBe('a');
  expect(findCurrentKey([key('a', 1), key('b', 5), key('c', 6)], new Date(5))?._id).toBe('b');
  expect(findExpiredKeys([key('a', 1), key('b', 5)], new Date(5 + 3_600_000)).map(({ _id }) => _id)).toEqual([
    'a',
  ]);
  expect(findExpiredKeys([], new Date(5))).toEqual([]);
  expect(isRotationDue([], new Date(5), 1)).toBe(false);
});

/** The life of signing keys, over rows in memory with a clock that a test moves. */
import { expect, test } from '@jest/globals';
import jwt from 'jsonwebtoken';
import { newId, Secret, type View } from '#libs/contract';
import { createKeyring, createSealing, type Store } from '#libs/store';
import { createPrincipalReader } from './principal.ts';
import { isRotationDue, outlived, signerAt } from './rules/key-rotation.ts';
import { signing } from './signing-keys.ts';
import { type SigningKeyRow, sealedPrivate } from './store/collections.ts';
import type { Credentials } from './store/credentials.ts';
import { memberStates } from './views.ts';

const organization_id = newId();
const user_id = newId();
const dayMs = 86_400_000;

function stage() {
  let at = Date.parse('2026-11-21T09:30:00.000Z');
  const rows: SigningKeyRow[] = [];
  const said: unknown[] = [];
  const credentials = {
    signingKeys: async () => [...rows],
    keepSigningKey: async (row: SigningKeyRow) => void rows.push(row),
    dropSigningKey: async (kid: string) => {
      const at = rows.findIndex(({ _id }) => _id === kid);
      if (at >= 0) rows.splice(at, 1);
      return at >= 0;
    },
  };
  const read = (view: View) => {
    const finder = {
      one: async () =>
        view === memberStates ? { organization_id, user_id, role: 'member', session_epoch: 0 } : undefined,
      many: async () => [...rows],
    };
    return { in: () => finder, unscoped: () => finder };
  };
  const now = () => new Date(at);
  // the rows have what the verifier needs of the real ones
  const store = { read, transact: async () => undefined } as unknown as Pick<Store, 'read' | 'transact'>;
  const ring = createKeyring(new Secret(Buffer.alloc(32, 7).toString('base64')));
  const sealing = createSealing(ring, sealedPrivate);
  const signer = () =>
    signing({
      credentials: credentials as unknown as Credentials,
      sealing,
      audited: ({ event, actor_id, details }) => void said.push([event, actor_id, details.kid]),
      now,
      lifeSeconds: 900,
    });
  return {
    rows,
    said,
    now,
    signer,
    verifier: () => createPrincipalReader(store, now),
    advance: (ms: number) => (at += ms),
  };
}

const kidOf = (token: string) => jwt.decode(token, { complete: true })?.header.kid;

test('a rotation refuses no token at any time, on any replica', async () => {
  const { signer, verifier, advance } = stage();
  const [one, two] = [signer(), signer()];
  await one.prepare();
  await two.prepare();
  const verifiers = [verifier(), verifier()];
  const tokens: { text: string; madeAt: number }[] = [];
  const first = kidOf(await one.token(organization_id, user_id, 0));
  const kid = await one.rotate('operator');
  let elapsed = 0;
  for (; elapsed < 180_000; elapsed += 5_000) {
    for (const replica of [one, two])
      tokens.push({ text: await replica.token(organization_id, user_id, 0), madeAt: elapsed });
    for (const verify of verifiers)
      for (const { text, madeAt } of tokens)
        if (elapsed - madeAt < 900_000) expect(await verify(text)).toBeDefined();
    advance(5_000);
  }
  expect(kidOf(tokens[0]?.text ?? '')).toBe(first);
  expect(kidOf(tokens.at(-1)?.text ?? '')).toBe(kid);
});

test('a key is exchanged after its days, once, and dropped when no token can name it any more', async () => {
  const { rows, said, signer, advance } = stage();
  const one = signer();
  await one.prepare();
  await one.keepFresh(30);
  expect(rows).toHaveLength(1);
  advance(30 * dayMs);
  await one.keepFresh(30);
  await one.keepFresh(30);
  expect(rows).toHaveLength(2);
  advance(60_000 + 3_600_000 - 1);
  await one.keepFresh(30);
  expect(rows).toHaveLength(2);
  advance(1);
  await Promise.all([one.keepFresh(30), signer().keepFresh(30)]);
  expect(rows).toHaveLength(1);
  // the security log has each of it once, whichever replica did it
  const [first, second] = [said[0], said[1]].map((line) => (line as string[])[2]);
  expect(said).toEqual([
    ['signing_key.create', 'system', first],
    ['signing_key.create', 'system', second],
    ['signing_key.delete', 'system', first],
  ]);
});

test('private halves are sealed', async () => {
  const { rows, signer } = stage();
  await signer().prepare();
  expect(JSON.stringify(rows)).not.toContain('PRIVATE KEY');
  expect(rows[0]?.public_jwk).not.toContain('"d"');
});

test('the signer is the newest whose time has come, or the first of all', () => {
  const key = (id: string, time: number) => ({ _id: id, signs_from: new Date(time) });
  expect(signerAt([], new Date(5))).toBeUndefined();
  expect(signerAt([key('a', 10)], new Date(5))?._id).toBe('a');
  expect(signerAt([key('a', 1), key('b', 5), key('c', 6)], new Date(5))?._id).toBe('b');
  expect(outlived([key('a', 1), key('b', 5)], new Date(5 + 3_600_000)).map(({ _id }) => _id)).toEqual(['a']);
  expect(outlived([], new Date(5))).toEqual([]);
  expect(isRotationDue([], new Date(5), 1)).toBe(false);
});

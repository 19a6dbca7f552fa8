/** Tests of re-encryption with MongoDB, also while another replica writes. */
import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { newId, Secret } from '#libs/contract';
import { type StoreFixture, storeFixture } from '../testing/store-fixture.ts';
import { collection, type StoredRow } from './collection.ts';
import { createKeyring } from './keyring.ts';
import type { SealedField } from './sealed-field.ts';

const sealedText: SealedField<{ _id: string }> = {
  path: 'sealed',
  context: ({ _id }) => `safes/${_id}`,
};
const sealedCodes: SealedField<object> = { path: 'codes.sealed', context: () => 'safes.codes' };
const safes = collection('safes', {
  row: z.object({
    _id: z.string(),
    sealed: z.string().nullable(),
    codes: z.array(z.object({ sealed: z.string(), until: z.date().nullable() })),
  }),
  sealed: [sealedText, sealedCodes],
});
type SafeRow = StoredRow<typeof safes>;

const newKey = () => randomBytes(32).toString('base64');
const createTestKeyring = (...keys: string[]) => createKeyring(new Secret(keys.join(',')));
const [old, young] = [newKey(), newKey()];

let fixture: StoreFixture;
const openWith = (...keys: string[]) =>
  fixture.open({ collections: [safes], keyring: createTestKeyring(...keys) });

beforeAll(async () => {
  fixture = await storeFixture();
});
afterAll(() => fixture?.stop());

/** Stores safes that are sealed with the first key; returns their ids. */
async function fill(count: number, ...keys: string[]): Promise<string[]> {
  const store = await openWith(...keys);
  await store.rows(safes).deleteMany({});
  const [text, codes] = [store.sealing(sealedText), store.sealing(sealedCodes)];
  const rows = Array.from({ length: count }, (_, at): SafeRow => {
    const _id = newId();
    const both = [`${at}a`, `${at}b`].map((code) => ({ sealed: codes.seal(code, {}), until: null }));
    return { _id, sealed: text.seal(`text ${at}`, { _id }), codes: both };
  });
  await store.rows(safes).insertMany(rows, { lean: true });
  return rows.map(({ _id }) => _id);
}

test('every text is re-encrypted with the first key, also within arrays', async () => {
  const ids = await fill(60, old);
  await fixture.db.collection<SafeRow>('safes').insertOne({ _id: newId(), sealed: null, codes: [] });
  const results = await (await openWith(young, old)).reencrypt();
  expect(results).toEqual([
    { collection: 'safes', field: 'sealed', count: 60, unopened: [], otherKeyInUse: false },
    { collection: 'safes', field: 'codes.sealed', count: 120, unopened: [], otherKeyInUse: false },
    {
      collection: 'thing_producers_idempotency',
      field: 'body',
      count: 0,
      unopened: [],
      otherKeyInUse: false,
    },
  ]);
  const store = await openWith(young);
  for (const [at, _id] of ids.entries()) {
    const row = await store.rows(safes).findOne({ _id }).lean();
    expect(store.sealing(sealedText).open(row?.sealed ?? '', { _id })).toBe(`text ${at}`);
    const codes = row?.codes.map(({ sealed }) => store.sealing(sealedCodes).open(sealed, {}));
    expect(codes).toEqual([`${at}a`, `${at}b`]);
  }
  expect((await store.reencrypt()).map(({ count }) => count)).toEqual([0, 0, 0]);
});

test('a text written during re-encryption is kept and re-encrypted too', async () => {
  const ids = await fill(30, old);
  const store = await openWith(young, old);
  // a replica that has the new key but still seals with the old one
  const behind = await openWith(old, young);
  let done = false;
  const write = async () => {
    const written = new Map<string, string>();
    for (let at = 0; !done; at += 1) {
      const _id = ids[at % ids.length] ?? '';
      const sealed = behind.sealing(sealedText).seal(`later ${at}`, { _id });
      await behind.rows(safes).updateOne({ _id }, { sealed });
      written.set(_id, `later ${at}`);
    }
    return written;
  };
  const writing = write();
  const [during] = await store.reencrypt();
  done = true;
  const written = await writing;
  expect(during).toMatchObject({ otherKeyInUse: true, unopened: [] });
  expect((await store.reencrypt())[0]?.otherKeyInUse).toBe(false);
  const rows = await store.rows(safes).find({}).lean();
  expect(rows.map(({ sealed }) => sealed?.startsWith(`${createTestKeyring(young).newest}.`))).toEqual(
    rows.map(() => true),
  );
  expect(written.size).toBeGreaterThan(0);
  for (const { _id, sealed } of rows) {
    const text = store.sealing(sealedText).open(sealed ?? '', { _id });
    expect(text).toBe(written.get(_id) ?? `text ${ids.indexOf(_id)}`);
  }
});

test('a text that no key opens is reported and stays unchanged', async () => {
  const lost = newKey();
  const [gone = ''] = await fill(1, lost);
  const before = await fixture.db.collection<SafeRow>('safes').findOne({ _id: gone });
  const store = await openWith(young, old);
  const _id = newId();
  const sealed = (await openWith(old)).sealing(sealedText).seal('opens', { _id });
  await store.rows(safes).insertMany([{ _id, sealed, codes: [] }], { lean: true });
  const [texts, codes] = await store.reencrypt();
  const reason = `No key ${createTestKeyring(lost).newest} in ENCRYPTION_KEYS`;
  expect(texts).toEqual({
    collection: 'safes',
    field: 'sealed',
    count: 1,
    unopened: [{ id: gone, reason }],
    otherKeyInUse: false,
  });
  expect(codes?.unopened).toHaveLength(2);
  expect(await fixture.db.collection<SafeRow>('safes').findOne({ _id: gone })).toEqual(before);
});

test('sealing a field that no collection declares throws', async () => {
  const store = await openWith(young);
  const undeclared: SealedField<object> = { path: 'sealed', context: () => 'safes' };
  expect(() => store.sealing(undeclared)).toThrow(
    'No collection of thing-producers declares the sealed field sealed',
  );
});

test('opening a field that no view declares throws', async () => {
  const store = await openWith(young);
  const undeclared: SealedField<object> = { path: 'sealed', context: () => 'safes' };
  expect(() => store.opening(undeclared)).toThrow(
    'No view that thing-producers reads declares the sealed field sealed',
  );
});

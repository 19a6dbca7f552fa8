/** Tests that `npm run verify` finds every broken invariant, in a real database that is broken on purpose. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { findBrokenInvariants, formatBrokenInvariant } from '../../tools/admin/verify/broken-invariants.ts';
import { invariants } from '../../tools/admin/verify/invariants.ts';
import { createScan } from '../../tools/admin/verify/scan.ts';
import { acknowledgementBreaks } from './acknowledgement-breaks.ts';
import { assetBreaks } from './asset-breaks.ts';
import { type Break, type Breaks, findFirst, getRows, nobody, set } from './change-rows.ts';
import { documentBreaks } from './document-breaks.ts';
import { eventBreaks } from './event-breaks.ts';
import { identityBreaks } from './identity-breaks.ts';
import { reviewBreaks } from './review-breaks.ts';
import { secretBreaks } from './secret-breaks.ts';
import { type SeededDatabase, seedDatabase } from './seeded-database.ts';
import { sharingBreaks, webhookBreaks } from './webhook-breaks.ts';

const breaks: Breaks = {
  ...identityBreaks,
  ...assetBreaks,
  ...documentBreaks,
  ...reviewBreaks,
  ...sharingBreaks,
  ...acknowledgementBreaks,
  ...webhookBreaks,
  ...eventBreaks,
  ...secretBreaks,
};
const graceMs = 3_600_000;

let database: SeededDatabase;
beforeAll(async () => {
  database = await seedDatabase();
});
afterAll(() => database?.drop());

/** The violations of the invariants whose names match, by name. */
async function check(
  matches: (name: string) => boolean = () => true,
  options = { now: new Date(), graceMs },
) {
  const chosen = invariants.filter(({ name }) => matches(name));
  const found: Record<string, { count: number; examples: readonly string[] }> = {};
  const { db, keyring } = database;
  for await (const { invariant, count, examples } of findBrokenInvariants(db, chosen, {
    keyring,
    ...options,
  }))
    found[invariant.name] = { count, examples };
  return found;
}

test('a database that the services have written breaks no invariant', async () => {
  expect(await check()).toEqual({});
  expect(await check(undefined, { now: new Date(), graceMs: 0 })).toEqual({});
});

test('every invariant has a unique name and a test that breaks it', () => {
  const names = invariants.map(({ name }) => name);
  expect(new Set(names).size).toBe(names.length);
  expect(Object.keys(breaks).sort()).toEqual(names.filter((name) => name !== 'indexes').sort());
});

describe('a broken invariant is reported with the id of its row', () => {
  const cases = Object.entries(breaks).flatMap(([name, all]) =>
    all.map((one, at): [string, number, Break] => [name, at + 1, one]),
  );
  test.each(cases)('%s, change %d', async (name, _, breakInvariant) => {
    try {
      const id = await breakInvariant(database.db);
      const found = await check((one) => one === name);
      expect(found).toEqual({
        [name]: { count: expect.any(Number), examples: expect.arrayContaining([id]) },
      });
    } finally {
      await database.restore();
    }
    expect(await check((one) => one === name)).toEqual({});
  });
});

test('a missing index is reported with its collection', async () => {
  const { db } = database;
  await db.collection('share_tokens').dropIndex('hash_1');
  const found = await check((name) => name === 'indexes');
  expect(found).toEqual({ indexes: { count: 1, examples: ['share_tokens {"hash":1} unique'] } });
  await db.collection('share_tokens').createIndex({ hash: 1 }, { unique: true });
});

test('an obsolete index is reported with its collection', async () => {
  const { db } = database;
  await db.collection('users').createIndex({ email: 1 });
  const found = await check((name) => name === 'indexes');
  expect(found).toEqual({ indexes: { count: 1, examples: ['users email_1'] } });
  await db.collection('users').dropIndex('email_1');
});

describe('work in the background counts after the grace period', () => {
  const now = new Date();
  const isOf = (name: string) => (one: string) => one === name;

  test('a delivery is overdue an hour after it was due', async () => {
    const dueAt = (ms: number) =>
      set('webhook_deliveries', { status: 'pending', due_at: new Date(Number(now) - ms) });
    const name = 'webhook_deliveries.due_at';
    const id = await dueAt(graceMs - 1_000)(database.db);
    expect(await check(isOf(name), { now, graceMs })).toEqual({});
    await dueAt(graceMs + 1_000)(database.db);
    expect(await check(isOf(name), { now, graceMs })).toEqual({ [name]: { count: 1, examples: [id] } });
    await database.restore();
  });

  test('a document may have an editor who was removed just now', async () => {
    const { db } = database;
    const { event } = await findFirst(db, 'identity_outbox', { type: 'member.removed' });
    const id = await set('documents', { editor_id: JSON.parse(String(event)).data.member.id })(db);
    const name = 'documents.editor_id';
    expect(await check(isOf(name), { now, graceMs })).toEqual({});
    const later = { now: new Date(Number(now) + 2 * graceMs), graceMs };
    expect(await check(isOf(name), later)).toEqual({ [name]: { count: 1, examples: [id] } });
    await database.restore();
  });
});

test('a report counts all rows and names five of them', async () => {
  const rows = Array.from({ length: 7 }, (_, at) => ({ _id: `node ${at}`, document_id: nobody }));
  await getRows(database.db, 'nodes').insertMany(rows);
  const chosen = invariants.filter(({ name }) => name === 'nodes.document_id');
  const lines = [];
  for await (const broken of findBrokenInvariants(database.db, chosen, { now: new Date(), graceMs }))
    lines.push(formatBrokenInvariant(broken));
  expect(lines).toEqual([
    'nodes.document_id: 7 broken (node 0, node 1, node 2, node 3, node 4, …). ' +
      'A node belongs to a document of its organization.',
  ]);
  await database.restore();
});

test.each([1, 2, 3, 100])('a scan in batches of %d finds every row once', async (batchSize) => {
  const { db } = database;
  const scan = createScan(db, { now: new Date(), graceMs });
  const ids = [];
  for await (const id of scan.findIds('nodes', [], batchSize)) ids.push(id);
  const stored = await getRows(db, 'nodes').find().sort({ _id: 1 }).toArray();
  expect(ids).toEqual(stored.map(({ _id }) => _id));
  expect(ids.length).toBeGreaterThan(3);
});

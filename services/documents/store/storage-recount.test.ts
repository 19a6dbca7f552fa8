/** Tests charging all documents of an organization, with two replicas that write at the same time. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import mongoose from 'mongoose';
import { newId } from '#libs/contract';
import { until } from '#libs/testing';
import { findBrokenInvariants } from '../../../tools/admin/verify/broken-invariants.ts';
import { storageInvariants } from '../../../tools/admin/verify/storage.ts';
import { documentRow } from '../testing/rows.ts';
import { createTestRepository, type DocumentStores, openDocumentStores } from '../testing/store-fixture.ts';
import { type DocumentRow, documents, storageUsage } from './collections.ts';
import type { DocumentRepository } from './document-repository.ts';

let fixture: DocumentStores;
let [replicaA, replicaB] = [] as unknown as [DocumentRepository, DocumentRepository];
/** How far the clocks of the replicas are ahead, ms. */
let aheadMs = 0;
const now = () => new Date(Date.now() + aheadMs);
const anyone = { authorize: () => undefined };

beforeAll(async () => {
  fixture = await openDocumentStores(2);
  const [first, second] = fixture.stores.map((store) => createTestRepository(store, now));
  if (!first || !second) throw new Error('There are two stores');
  [replicaA, replicaB] = [first, second];
});
afterAll(() => fixture?.stop());

function getRows() {
  const [store] = fixture.stores;
  if (!store) throw new Error('There is no store');
  return { documents: store.rows(documents), usage: store.rows(storageUsage) };
}

async function setLimit(organizationId: string, maxDocuments: number): Promise<void> {
  const subscriptions = getRows().documents.db.collection<{ _id: string }>('subscriptions');
  const terms = { plan: 'trial', terms_version: 1, storage_limits: { documents: maxDocuments } };
  await subscriptions.updateOne({ _id: organizationId }, { $set: terms }, { upsert: true });
}

async function findFaults(): Promise<string[]> {
  const { db } = getRows().documents.db;
  if (!db) throw new Error('The store is closed');
  const faults: string[] = [];
  const options = { now: new Date(), graceMs: 0 };
  for await (const { invariant } of findBrokenInvariants(db, storageInvariants, options))
    faults.push(invariant.name);
  return faults;
}

/** Stores documents as a process does that has not noticed the limit. */
async function insertDocuments(organization_id: string, count: number): Promise<DocumentRow[]> {
  const added = Array.from({ length: count }, (_, at) =>
    documentRow({ organization_id, content_bytes: at * 1000 }),
  );
  await getRows().documents.insertMany(added);
  return added;
}

/** Repeats a write that found no time among the others, as a client does that gets 503. */
async function repeatConflicts(write: () => Promise<void>): Promise<void> {
  for (;;) {
    try {
      return await write();
    } catch (error) {
      const isConflict = error instanceof mongoose.mongo.MongoError;
      if (!isConflict || !error.hasErrorLabel('TransientTransactionError')) throw error;
    }
  }
}

test('a recount loses no change that another replica makes meanwhile', async () => {
  const actor = { organization_id: newId(), user_id: null };
  const added = await insertDocuments(actor.organization_id, 1_200);
  // this replica relies on the unlimited plan for up to five seconds
  const stale = await replicaB.prepareCharge(actor);
  await setLimit(actor.organization_id, 2_000);
  const charging = Promise.all([replicaA.prepareCharge(actor), replicaA.prepareCharge(actor)]);
  const write = async (row: DocumentRow, at: number): Promise<void> => {
    const created = documentRow({ organization_id: actor.organization_id });
    if (at % 3 === 0) return replicaB.create(stale, created, []);
    const replica = at % 2 ? replicaA : replicaB;
    return replica.respond(actor, row._id, async (within) => {
      if (at % 3 === 1) return replica.delete(within, await replica.get(within, row._id));
      const grow = async ({ content_bytes }: DocumentRow) => ({
        change: { content_bytes: content_bytes + 200_000 },
      });
      await replica.update(within, row._id, anyone, grow);
    });
  };
  const chosen = added.filter((_, at) => at % 20 === 0);
  await Promise.all([charging, ...chosen.map((row, at) => repeatConflicts(() => write(row, at)))]);
  expect(await findFaults()).toEqual([]);

  // later, the documents that the stale replica wrote are charged as well
  aheadMs += 60_000;
  await until('the second recount', async () => {
    await replicaA.prepareCharge(actor);
    const counter = await getRows().usage.findOne({ _id: actor.organization_id }).lean();
    return counter && !counter.recount_at;
  });
  expect(await findFaults()).toEqual([]);
  const counter = await getRows().usage.findOne({ _id: actor.organization_id }).lean();
  expect(counter?.documents).toBe(
    await getRows().documents.countDocuments({ organization_id: actor.organization_id }),
  );
  expect(counter?.documents).toBe(1_200);
});

test('a document that shrinks before it was charged needs no space', async () => {
  const actor = { organization_id: newId(), user_id: null };
  await setLimit(actor.organization_id, 0);
  await replicaA.prepareCharge(actor);
  const [row] = await insertDocuments(actor.organization_id, 1);
  if (!row) throw new Error('There is one document');
  await getRows().documents.updateOne({ _id: row._id }, { content_bytes: 300_000 });
  await replicaA.respond(actor, row._id, (within) =>
    replicaA.update(within, row._id, anyone, async () => ({ change: { content_bytes: 100_000 } })),
  );
  const counter = await getRows().usage.findOne({ _id: actor.organization_id }).lean();
  expect(counter).toMatchObject({ documents: 1, blocks: 2 });
});

test('the size of a document is only changed with a charge', async () => {
  const actor = { organization_id: newId(), user_id: null };
  const [row] = await insertDocuments(actor.organization_id, 1);
  const change = { content_bytes: 5 };
  await expect(replicaA.update(actor, row?._id ?? '', anyone, async () => ({ change }))).rejects.toThrow(
    'A change of the size needs an actor of `respond`',
  );
});

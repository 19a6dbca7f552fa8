/** Tests the document repository with two replicas and one MongoDB. */
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { NotFound, newId, PreconditionFailed, Unavailable } from '#libs/contract';
import type { Actor } from '#libs/store';
import { profileCommands } from '#libs/testing';
import { documentRow } from '../testing/rows.ts';
import { createTestRepository, type DocumentStores, openDocumentStores } from '../testing/store-fixture.ts';
import { documents } from './collections.ts';
import type { DocumentRepository } from './document-repository.ts';
import { toEtag } from './preconditions.ts';

let fixture: DocumentStores;
let replicaA: DocumentRepository;
let replicaB: DocumentRepository;
const anyone = { authorize: () => undefined };

beforeAll(async () => {
  fixture = await openDocumentStores(2);
  [replicaA, replicaB] = fixture.stores.map((store) => createTestRepository(store)) as [
    DocumentRepository,
    DocumentRepository,
  ];
});
afterAll(() => fixture?.stop());

test('an update without a transaction decides again after a conflict', async () => {
  const row = documentRow({ title: 'T', version: '1' });
  const actor = { organization_id: row.organization_id, user_id: row.created_by };
  await replicaA.create(await replicaA.prepareCharge(actor), row, []);
  const seen: (string | null)[] = [];
  const changed = await replicaA.update(actor, row._id, anyone, async ({ version }) => {
    seen.push(version);
    if (seen.length < 3)
      await replicaB.update(actor, row._id, anyone, async () => ({ change: { version: `${version}.1` } }));
    return { change: { title: `After ${version}` }, result: `After ${version}` };
  });
  expect(seen).toEqual(['1', '1.1', '1.1.1']);
  expect(changed.result).toBe('After 1.1.1');
  expect(changed.document).toMatchObject({ title: 'After 1.1.1', version: '1.1.1', row_version: 4 });
  expect(await fixture.stores[0]?.rows(documents).findOne({ _id: row._id }).lean()).toEqual(changed.document);
});

test('an update without a transaction gives up after 50 attempts', async () => {
  const row = documentRow({ version: '0' });
  const actor = { organization_id: row.organization_id, user_id: row.created_by };
  await replicaA.create(await replicaA.prepareCharge(actor), row, []);
  let attempts = 0;
  const updating = replicaA.update(actor, row._id, anyone, async () => {
    attempts += 1;
    await replicaB.update(actor, row._id, anyone, async () => ({ change: { version: `${attempts}` } }));
    return { change: { title: 'Never' } };
  });
  await expect(updating).rejects.toMatchObject({ kind: Unavailable, headers: { 'Retry-After': '1' } });
  expect([attempts, (await replicaA.get(actor, row._id)).title]).toEqual([50, row.title]);
});

test('replicas that change one row concurrently lose no change', async () => {
  const row = documentRow({ share_epoch: 0 });
  const actor = { organization_id: row.organization_id, user_id: row.created_by };
  await replicaA.create(await replicaA.prepareCharge(actor), row, []);
  const increment = async ({ share_epoch }: { share_epoch: number }) => ({
    change: { share_epoch: share_epoch + 1 },
  });
  await Promise.all(
    Array.from({ length: 40 }, (_, at) => {
      const replica = at % 2 ? replicaA : replicaB;
      const update = (within: Actor) => replica.update(within, row._id, anyone, increment);
      return at % 4 < 2 ? update(actor) : replica.respond(actor, row._id, update);
    }),
  );
  const after = await fixture.stores[0]?.rows(documents).findOne({ _id: row._id }).lean();
  expect(after).toMatchObject({ share_epoch: 40, row_version: 41 });
});

describe('respondWithEarlyRead', () => {
  /** Stores a draft and returns it with its actor. */
  async function createRow() {
    const row = documentRow({ title: 'T', version: '1' });
    const actor = { organization_id: row.organization_id, user_id: row.created_by };
    await replicaA.create(await replicaA.prepareCharge(actor), row, []);
    return { row, actor };
  }
  /** Sets the title after the version, and records the versions that it saw. */
  const retitle = (within: Actor, id: string, seen: (string | null)[], precondition = anyone) =>
    replicaA.update(within, id, precondition, async ({ version }) => {
      seen.push(version);
      return { change: { title: `After ${version}` } };
    });

  test('reads the row once, before the transaction', async () => {
    const { row, actor } = await createRow();
    const commands = await profileCommands(fixture.db, () =>
      replicaA.respondWithEarlyRead(actor, row._id, (within) => retitle(within, row._id, [])),
    );
    const ofDocuments = commands.filter(({ collection }) => collection === documents.name);
    expect(ofDocuments.map(({ op }) => op)).toEqual(['query', 'update']);
    expect(ofDocuments[0]?.transaction).toBeUndefined();
    expect(await replicaA.get(actor, row._id)).toMatchObject({ title: 'After 1', row_version: 2 });
  });

  test('retries with the new row if it has changed since the read', async () => {
    const { row, actor } = await createRow();
    const seen: (string | null)[] = [];
    const writes: string[] = [];
    await replicaA.respondWithEarlyRead(actor, row._id, async (within) => {
      writes.push('before');
      if (writes.length === 1)
        await replicaB.update(actor, row._id, anyone, async () => ({ change: { version: '2' } }));
      return retitle(within, row._id, seen);
    });
    expect(seen).toEqual(['1', '2']);
    expect(await replicaA.get(actor, row._id)).toMatchObject({
      title: 'After 2',
      version: '2',
      row_version: 3,
    });
  });

  test('reads another document that is changed in the same transaction', async () => {
    const [{ row, actor }, { row: other }] = [await createRow(), await createRow()];
    await fixture.store
      .rows(documents)
      .updateOne({ _id: other._id }, { organization_id: row.organization_id, version: '7' });
    await replicaA.respondWithEarlyRead(actor, row._id, (within) => retitle(within, other._id, []));
    expect((await replicaA.get(actor, other._id)).title).toBe('After 7');
    expect((await replicaA.get(actor, row._id)).title).toBe('T');
  });

  test('finds nothing if the document is deleted after the read', async () => {
    const { row, actor } = await createRow();
    const deleting = replicaA.respondWithEarlyRead(actor, row._id, async (within) => {
      await fixture.store.rows(documents).deleteOne({ _id: row._id });
      return retitle(within, row._id, []);
    });
    await expect(deleting).rejects.toMatchObject({ kind: NotFound });
  });

  test('reads a document that is charged in the transaction', async () => {
    const { row, actor } = await createRow();
    const limits = { plan: 'trial', terms_version: 2, storage_limits: { documents: 10 } };
    const plans = fixture.db.collection<{ _id: string }>('subscriptions');
    await plans.updateOne({ _id: row.organization_id }, { $set: limits }, { upsert: true });
    const [store] = fixture.stores;
    if (!store) throw new Error('There is a store');
    // without the plan that the others remember
    const repository = createTestRepository(store);
    await repository.prepareCharge(actor);
    const commands = await profileCommands(fixture.db, () =>
      repository.respondWithEarlyRead(actor, row._id, async (within) => {
        await repository.update(within, row._id, anyone, async () => ({ change: { title: 'New' } }));
      }),
    );
    const [read] = commands.filter(({ collection, op }) => collection === documents.name && op === 'query');
    expect(read?.transaction).toBeDefined();
  });

  test('checks the precondition, and finds no document of another organization', async () => {
    const { row, actor } = await createRow();
    const update = (by: Actor, ifMatch: string) =>
      replicaA.respondWithEarlyRead(by, row._id, (within) =>
        replicaA.update(within, row._id, { ...anyone, ifMatch: [ifMatch] }, async () => ({ change: {} })),
      );
    await expect(update(actor, '"another"')).rejects.toMatchObject({ kind: PreconditionFailed });
    const stranger = { ...actor, organization_id: newId() };
    await expect(update(stranger, toEtag(row))).rejects.toMatchObject({ kind: NotFound });
    await update(actor, toEtag(row));
    expect(await replicaA.get(actor, row._id)).toMatchObject({ row_version: 2 });
  });
});

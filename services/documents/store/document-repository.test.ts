/** Tests the document repository with two replicas and one MongoDB. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { Unavailable } from '#libs/contract';
import type { Actor } from '#libs/store';
import { documentRow } from '../testing/rows.ts';
import { createTestRepository, type DocumentStores, openDocumentStores } from '../testing/store-fixture.ts';
import { documents } from './collections.ts';
import type { DocumentRepository } from './document-repository.ts';

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

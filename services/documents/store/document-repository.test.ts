/** Tests the document repository with two replicas and one MongoDB. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { documentRow } from '../testing/rows.ts';
import { type DocumentStores, openDocumentStores } from '../testing/store-fixture.ts';
import { documents } from './collections.ts';
import { type DocumentRepository, documentRepository } from './document-repository.ts';
import { search } from './search.ts';
import { trees } from './tree.ts';

let fixture: DocumentStores;
let replicaA: DocumentRepository;
let replicaB: DocumentRepository;
const anyone = { authorize: () => undefined, ifMatch: undefined };

beforeAll(async () => {
  fixture = await openDocumentStores(2);
  [replicaA, replicaB] = fixture.stores.map((store) =>
    documentRepository(store, { trees: trees(store), search: search(store) }, () => new Date()),
  ) as [DocumentRepository, DocumentRepository];
});
afterAll(() => fixture?.stop());

test('changeRow decides again if another replica changed the row', async () => {
  const row = documentRow({ title: 'T', version: '1' });
  const actor = { organization_id: row.organization_id, user_id: row.created_by };
  await replicaA.create(actor, row, []);
  const seen: (string | null)[] = [];
  const changed = await replicaA.changeRow(actor, row._id, anyone, async ({ version }) => {
    seen.push(version);
    if (seen.length < 3)
      await replicaB.changeRow(actor, row._id, anyone, async () => ({ version: `${version}.1` }));
    return { title: `After ${version}` };
  });
  expect(seen).toEqual(['1', '1.1', '1.1.1']);
  expect(changed).toMatchObject({ title: 'After 1.1.1', version: '1.1.1', row_version: 4 });
  expect(await fixture.stores[0]?.rows(documents).findOne({ _id: row._id }).lean()).toEqual(changed);
});

test('replicas that change one row concurrently lose no change', async () => {
  const row = documentRow({ node_count: 0 });
  const actor = { organization_id: row.organization_id, user_id: row.created_by };
  await replicaA.create(actor, row, []);
  const more = async ({ node_count }: { node_count: number }) => ({ node_count: node_count + 1 });
  await Promise.all(
    Array.from({ length: 40 }, (_, at) => {
      const replica = at % 2 ? replicaA : replicaB;
      return at % 4 < 2
        ? replica.changeRow(actor, row._id, anyone, more)
        : replica.change(actor, row._id, anyone, async (before) => ({
            change: await more(before),
            reply: () => undefined,
          }));
    }),
  );
  const after = await fixture.stores[0]?.rows(documents).findOne({ _id: row._id }).lean();
  expect(after).toMatchObject({ node_count: 40, row_version: 41 });
});

/** The library with two replicas over one MongoDB. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { documentRow } from '../testing/rows.ts';
import { type OwnStores, ownStores } from '../testing/store-fixture.ts';
import { documents } from './collections.ts';
import { type DocumentRepository, documentRepository } from './document-repository.ts';
import { search } from './search.ts';
import { trees } from './tree.ts';

let own: OwnStores;
let here: DocumentRepository;
let there: DocumentRepository;
const free = { authorize: () => undefined, ifMatch: undefined };

beforeAll(async () => {
  own = await ownStores(2);
  [here, there] = own.stores.map((store) =>
    documentRepository(store, { trees: trees(store), search: search(store) }, () => new Date()),
  ) as [DocumentRepository, DocumentRepository];
}, 60_000);
afterAll(() => own?.stop());

test('a change of the row that another replica outran is decided again on the row as it is then', async () => {
  const row = documentRow({ title: 'T', version: '1' });
  const acting = { organization_id: row.organization_id, user_id: row.created_by };
  await here.create(acting, row, []);
  const seen: (string | null)[] = [];
  const changed = await here.changeRow(acting, row._id, free, async ({ version }) => {
    seen.push(version);
    if (seen.length < 3)
      await there.changeRow(acting, row._id, free, async () => ({ version: `${version}.1` }));
    return { title: `After ${version}` };
  });
  expect(seen).toEqual(['1', '1.1', '1.1.1']);
  expect(changed).toMatchObject({ title: 'After 1.1.1', version: '1.1.1', row_version: 4 });
  expect(await own.stores[0]?.rows(documents).findOne({ _id: row._id }).lean()).toEqual(changed);
});

test('replicas that change one row in every way at once lose nothing', async () => {
  const row = documentRow({ node_count: 0 });
  const acting = { organization_id: row.organization_id, user_id: row.created_by };
  await here.create(acting, row, []);
  const more = async ({ node_count }: { node_count: number }) => ({ node_count: node_count + 1 });
  await Promise.all(
    Array.from({ length: 40 }, (_, at) => {
      const replica = at % 2 ? here : there;
      return at % 4 < 2
        ? replica.changeRow(acting, row._id, free, more)
        : replica.change(acting, row._id, free, async (before) => ({
            change: await more(before),
            reply: () => undefined,
          }));
    }),
  );
  const after = await own.stores[0]?.rows(documents).findOne({ _id: row._id }).lean();
  expect(after).toMatchObject({ node_count: 40, row_version: 41 });
});

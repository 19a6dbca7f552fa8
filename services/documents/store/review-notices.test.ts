/** Tests that three replicas that find the same due notice claim it once, with one MongoDB. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { documentRow } from '../testing/rows.ts';
import { type DocumentStores, openDocumentStores } from '../testing/store-fixture.ts';
import { documents } from './collections.ts';
import { createDueReviews } from './review-notices.ts';

const dayMs = 86_400_000;

let fixture: DocumentStores;

beforeAll(async () => {
  fixture = await openDocumentStores(3);
});
afterAll(() => fixture?.stop());

const rows = () => (fixture.stores[0] as DocumentStores['stores'][0]).rows(documents);

test('replicas that found the same notice claim it once', async () => {
  const review_due_at = new Date(Date.now() - dayMs);
  const times = { review_due_at, review_notice_at: review_due_at };
  for (let round = 0; round < 20; round += 1) {
    const row = documentRow({ status: 'published', published_at: new Date(0), review_months: 1, ...times });
    await rows().insertMany([row]);
    // all of them find it before one claims it
    const replicas = await Promise.all(
      fixture.stores.map(async (store) => {
        const dueReviews = createDueReviews(store, () => new Date());
        const found = (await dueReviews.find(100)).find(({ _id }) => _id === row._id);
        if (!found) throw new Error('The notice was not found');
        return { store, claim: dueReviews.claim, found };
      }),
    );
    const system = { organization_id: row.organization_id, user_id: null };
    const claims = await Promise.all(
      replicas.map(({ store, claim, found }) => store.transact(system, (tx) => claim(found, tx))),
    );
    expect(claims.flatMap((claimed) => claimed?.days_left ?? [])).toEqual([0]);
  }
});

test('a notice about another due time is not claimed', async () => {
  const [store] = fixture.stores;
  const review_due_at = new Date(Date.now() - dayMs);
  const row = documentRow({ status: 'published', review_due_at, review_notice_at: review_due_at });
  await rows().insertMany([row]);
  const dueReviews = createDueReviews(store as DocumentStores['stores'][0], () => new Date());
  const found = (await dueReviews.find(100)).find(({ _id }) => _id === row._id);
  await rows().updateOne({ _id: row._id }, { review_due_at: new Date(Date.now() + dayMs) });
  const system = { organization_id: row.organization_id, user_id: null };
  const claimed = await store?.transact(system, async (tx) => found && dueReviews.claim(found, tx));
  expect([found?._id, claimed]).toEqual([row._id, undefined]);
});

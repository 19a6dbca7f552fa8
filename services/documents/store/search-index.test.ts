/** The search index under contention, over a real MongoDB: several processes, late writers, deletions. */
import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import type { Store } from '#libs/store';
import { fakeClock, type StoreFixture, storeFixture } from '../../../libs/testing/store-fixture.ts';
import { documentRow } from '../testing/rows.ts';
import { type DocumentRow, documents, nodes, search as searchRows } from './collections.ts';
import { search } from './search.ts';
import { searchIndex } from './search-index.ts';

let fixture: StoreFixture;
let store: Store;
const clock = fakeClock();

beforeAll(async () => {
  fixture = await storeFixture();
  store = await fixture.open({ collections: [documents, nodes, searchRows] });
  await searchIndex(store, clock.now).backfill();
}, 60_000);
// replicas look for documents of all organizations
beforeEach(async () => void (await rows().documents.deleteMany({})));
afterAll(() => fixture?.stop());

const replica = () => searchIndex(store, clock.now);
const rows = () => ({
  documents: fixture.db.collection<DocumentRow>('documents'),
  search: fixture.db.collection<{ _id: string; words: string[] }>('search'),
});

/** Documents of a new organization that are out of date. */
async function insertStale(count: number): Promise<DocumentRow[]> {
  const organization_id = newId();
  const made = Array.from({ length: count }, (_, at) =>
    documentRow({ organization_id, title: `Title ${at}`, reindex_at: clock.now() }),
  );
  await rows().documents.insertMany(made);
  return made;
}

const getWords = async (id: string) => (await rows().search.findOne({ _id: id }))?.words;
const getReindexAt = async (id: string) => (await rows().documents.findOne({ _id: id }))?.reindex_at;

test('replicas that look at the same moment take different documents, and all of them', async () => {
  const made = await insertStale(60);
  const taken = await Promise.all([1, 2, 3].map(() => replica().claim(60)));
  const ids = taken.flat().map(({ _id }) => _id);
  expect(ids.toSorted()).toEqual(made.map(({ _id }) => _id).toSorted());
  expect(await replica().claim(60)).toEqual([]);
});

test('what a process took and did not finish is taken by another when the lease is over', async () => {
  const [one] = await insertStale(1);
  expect(await replica().claim(10)).toHaveLength(1);
  clock.advance(9_000);
  expect(await replica().claim(10)).toHaveLength(0);
  clock.advance(11_001);
  expect((await replica().claim(10)).map(({ _id }) => _id)).toEqual([one?._id]);
});

test('what was changed while its words were read is read again', async () => {
  const [one] = await insertStale(1);
  const id = one?._id ?? '';
  const [taken] = await replica().claim(10);
  if (!taken) throw new Error('There was nothing to take');
  const change = { $set: { title: 'Later', reindex_at: clock.now() }, $inc: { row_version: 1 } };
  await rows().documents.updateOne({ _id: id }, change);
  await replica().save([{ ...taken, words: ['early'] }]);
  expect([await getWords(id), await getReindexAt(id)]).toEqual([['early'], clock.now()]);
  const [again] = await replica().claim(10);
  if (!again) throw new Error('There was nothing to take again');
  await replica().save([{ ...again, words: ['later'] }]);
  expect([await getWords(id), await getReindexAt(id)]).toEqual([['later'], null]);

  // the first process comes back from a long pause
  await replica().save([{ ...taken, words: ['early'] }]);
  expect([await getWords(id), await getReindexAt(id)]).toEqual([['later'], null]);
});

test('two that write the first words of a document at once leave the later ones', async () => {
  for (const one of await insertStale(20)) {
    const taken = { ...one, reindex_at: clock.now() };
    await Promise.all([
      replica().save([{ ...taken, words: ['early'] }]),
      replica().save([{ ...taken, row_version: 2, words: ['later'] }]),
    ]);
    expect(await getWords(one._id)).toEqual(['later']);
  }
});

test('a document that is deleted takes its words along, also when they are written meanwhile', async () => {
  const [one, two] = await insertStale(2);
  const taken = await replica().claim(10);
  await replica().save(taken.map((document) => ({ ...document, words: ['word'] })));
  const remove = (id: string, fails: boolean) =>
    store.transact({ organization_id: newId(), user_id: null }, async (tx) => {
      await store.rows(documents).deleteOne({ _id: id }, { session: tx.session });
      await search(store).remove(id, tx);
      if (fails) throw new Error('The transaction fails');
    });
  const [kept, gone] = [one?._id ?? '', two?._id ?? ''];
  await expect(remove(kept, true)).rejects.toThrow('The transaction fails');
  await remove(gone, false);
  expect([await getWords(kept), await getWords(gone)]).toEqual([['word'], undefined]);

  await replica().save(taken.map((document) => ({ ...document, words: ['late'] })));
  expect([await getWords(kept), await getWords(gone)]).toEqual([['late'], undefined]);
});

test('at most the 1,000 newest documents are found', async () => {
  const actor = { organization_id: newId(), user_id: null };
  const made = Array.from({ length: 1_010 }, (_, at) => ({
    _id: newId(),
    organization_id: actor.organization_id,
    words: ['all', at % 2 ? 'odd' : 'even', ...(at < 3 ? ['old'] : [])],
    row_version: 1,
  }));
  await rows().search.insertMany(made);
  const newestFirst = made.map(({ _id }) => _id).reverse();
  expect(await search(store).matches(actor, ['all'])).toEqual(newestFirst.slice(0, 1_000));
  expect(await search(store).matches(actor, ['all', 'old'])).toEqual(newestFirst.slice(-3));
  expect(await search(store).matches(actor, ['all', 'odd'])).toHaveLength(505);
  expect(await search(store).matches(actor, ['odd', 'even'])).toEqual([]);
});

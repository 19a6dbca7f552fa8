/** Tests the search index with concurrent processes, late writers and deletions in a real MongoDB. */
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
});
// replicas find documents of all organizations
beforeEach(async () => void (await rows().documents.deleteMany({})));
afterAll(() => fixture?.stop());

const replica = () => searchIndex(store, clock.now);
const rows = () => ({
  documents: fixture.db.collection<DocumentRow>('documents'),
  search: fixture.db.collection<{ _id: string; words: string[] }>('search'),
});

/** Inserts documents of a new organization that are due for indexing. */
async function insertStale(count: number): Promise<(DocumentRow & { reindex_at: Date })[]> {
  const organization_id = newId();
  const reindex_at = clock.now();
  const inserted = Array.from({ length: count }, (_, at) => ({
    ...documentRow({ organization_id, title: `Title ${at}` }),
    reindex_at,
  }));
  await rows().documents.insertMany(inserted);
  return inserted;
}

const words = (...all: string[]) => ({ words: all, word_bytes: 100 });
const getWords = async (id: string) => (await rows().search.findOne({ _id: id }))?.words;
const getReindexAt = async (id: string) => (await rows().documents.findOne({ _id: id }))?.reindex_at;

test('only one replica at a time holds the lease', async () => {
  const [first, second] = [replica(), replica()];
  const results = await Promise.all([first.acquireLease(), second.acquireLease()]);
  expect(results.toSorted()).toEqual([false, true]);
  const [holder, other] = results[0] ? [first, second] : [second, first];
  clock.advance(9_000);
  expect([await holder.acquireLease(), await other.acquireLease()]).toEqual([true, false]);
  clock.advance(9_000);
  expect(await other.acquireLease()).toBe(false);
  await holder.releaseLease();
  expect([await other.acquireLease(), await holder.acquireLease()]).toEqual([true, false]);
});

test('a replica that does not get the lease waits for half of its length', async () => {
  const [holder, other] = [replica(), replica()];
  clock.advance(10_001);
  expect([await holder.acquireLease(), await other.acquireLease()]).toEqual([true, false]);
  clock.advance(4_999);
  expect([holder.isLeasedElsewhere(), other.isLeasedElsewhere()]).toEqual([false, true]);
  clock.advance(1);
  expect(other.isLeasedElsewhere()).toBe(false);
});

test('another replica takes the lease after its holder has stopped working', async () => {
  const [holder, other] = [replica(), replica()];
  clock.advance(10_001);
  expect([await holder.acquireLease(), await other.acquireLease()]).toEqual([true, false]);
  clock.advance(10_001);
  expect([await other.acquireLease(), await holder.acquireLease()]).toEqual([true, false]);
  // the former holder cannot end the lease of another replica
  await holder.releaseLease();
  expect([await replica().acquireLease(), await other.acquireLease()]).toEqual([false, true]);
});

test('a lease that was written by a fast clock can be taken', async () => {
  clock.advance(3_600_000);
  expect(await replica().acquireLease()).toBe(true);
  clock.advance(-3_600_000);
  expect(await replica().acquireLease()).toBe(true);
});

test('a postponed document is found after a minute, or after its next change', async () => {
  const [first, second] = await insertStale(2);
  for (const document of await replica().findStale(10)) await replica().postpone(document);
  const findIds = async () => (await replica().findStale(10)).map(({ _id }) => _id);
  expect(await findIds()).toEqual([]);
  const change = { $set: { reindex_at: clock.now() }, $inc: { row_version: 1 } };
  await rows().documents.updateOne({ _id: second?._id ?? '' }, change);
  expect(await findIds()).toEqual([second?._id]);
  clock.advance(60_001);
  expect(await findIds()).toEqual([second?._id, first?._id]);
});

test('a document that changes while it is indexed is indexed again', async () => {
  const [document] = await insertStale(1);
  const id = document?._id ?? '';
  const [first] = await replica().findStale(10);
  if (!first) throw new Error('The document was not found');
  const change = { $set: { title: 'Later', reindex_at: clock.now() }, $inc: { row_version: 1 } };
  await rows().documents.updateOne({ _id: id }, change);
  await replica().save([{ ...first, ...words('early') }]);
  expect([await getWords(id), await getReindexAt(id)]).toEqual([['early'], clock.now()]);
  const [second] = await replica().findStale(10);
  if (!second) throw new Error('The changed document was not found');
  await replica().save([{ ...second, ...words('later') }]);
  expect([await getWords(id), await getReindexAt(id)]).toEqual([['later'], null]);

  // the first process saves after a long pause
  await replica().save([{ ...first, ...words('early') }]);
  expect([await getWords(id), await getReindexAt(id)]).toEqual([['later'], null]);
});

test('a late save does not remove the words of a new node', async () => {
  const [document] = await insertStale(1);
  const [found] = await replica().findStale(10);
  if (!document || !found) throw new Error('The document was not found');
  const addNode = (changed: Partial<DocumentRow>) =>
    store.transact({ organization_id: newId(), user_id: null }, (tx) =>
      search(store).addNodeWords({ ...document, ...changed }, 'A new Node', tx),
    );
  // there are no words, although they are marked as up to date
  expect(await addNode({ reindex_at: null })).toBe(false);
  await replica().save([{ ...found, ...words('early', 'node') }]);
  // they are outdated, and will be written anyway
  expect([await addNode({}), await getWords(document._id)]).toEqual([false, ['early', 'node']]);
  expect(await addNode({ reindex_at: null })).toBe(true);
  await replica().save([{ ...found, ...words('early', 'node') }]);
  expect(await getWords(document._id)).toEqual(['early', 'node', 'a', 'new']);
});

test('the words of new nodes count until their document has too many', async () => {
  const [document] = await insertStale(1);
  if (!document) throw new Error('The document was not inserted');
  await replica().save([{ ...document, ...words('first'), word_bytes: 8 * 1024 }]);
  const addNode = (title: string) =>
    store.transact({ organization_id: newId(), user_id: null }, (tx) =>
      search(store).addNodeWords({ ...document, reindex_at: null }, title, tx),
    );
  expect([await addNode('Second'), await addNode('Third')]).toEqual([true, false]);
  expect(await getWords(document._id)).toEqual(['first', 'second']);
});

test('of two concurrent first saves, the later version remains', async () => {
  for (const document of await insertStale(20)) {
    await Promise.all([
      replica().save([{ ...document, ...words('early') }]),
      replica().save([{ ...document, row_version: 2, ...words('later') }]),
    ]);
    expect(await getWords(document._id)).toEqual(['later']);
  }
});

test('deleting a document removes its words, also those saved later', async () => {
  const [first, second] = await insertStale(2);
  const found = await replica().findStale(10);
  await replica().save(found.map((document) => ({ ...document, ...words('word') })));
  const remove = (id: string, fails: boolean) =>
    store.transact({ organization_id: newId(), user_id: null }, async (tx) => {
      await store.rows(documents).deleteOne({ _id: id }, { session: tx.session });
      await search(store).remove(id, tx);
      if (fails) throw new Error('The transaction fails');
    });
  const [remaining, deleted] = [first?._id ?? '', second?._id ?? ''];
  await expect(remove(remaining, true)).rejects.toThrow('The transaction fails');
  await remove(deleted, false);
  expect([await getWords(remaining), await getWords(deleted)]).toEqual([['word'], undefined]);

  await replica().save(found.map((document) => ({ ...document, ...words('late') })));
  expect([await getWords(remaining), await getWords(deleted)]).toEqual([['late'], undefined]);
});

test('a search finds at most the 1,000 newest documents', async () => {
  const actor = { organization_id: newId(), user_id: null };
  const inserted = Array.from({ length: 1_010 }, (_, at) => ({
    _id: newId(),
    organization_id: actor.organization_id,
    words: ['all', at % 2 ? 'odd' : 'even', ...(at < 3 ? ['old'] : [])],
    row_version: 1,
  }));
  await rows().search.insertMany(inserted);
  const newestFirst = inserted.map(({ _id }) => _id).reverse();
  expect(await search(store).matches(actor, ['all'])).toEqual(newestFirst.slice(0, 1_000));
  expect(await search(store).matches(actor, ['all', 'old'])).toEqual(newestFirst.slice(-3));
  expect(await search(store).matches(actor, ['all', 'odd'])).toHaveLength(505);
  expect(await search(store).matches(actor, ['odd', 'even'])).toEqual([]);
});

/** Tests reading and copying trees in a real MongoDB. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Store } from '#libs/store';
import { documentRow, nodeRow } from '../testing/rows.ts';
import { type DocumentStores, openDocumentStores } from '../testing/store-fixture.ts';
import { type DocumentRow, documents, type NodeRow } from './collections.ts';
import { type Trees, trees } from './tree.ts';

let fixture: DocumentStores;
let store: Store;
let nodeTrees: Trees;

beforeAll(async () => {
  fixture = await openDocumentStores();
  [store] = fixture.stores as [Store];
  nodeTrees = trees(store);
});
afterAll(() => fixture?.stop());

const toActor = ({ organization_id, created_by }: DocumentRow) => ({ organization_id, user_id: created_by });

/** Inserts a document with its nodes. */
async function insertDocument(document: DocumentRow, nodes: readonly NodeRow[]): Promise<void> {
  await store.transact(toActor(document), async (tx) => {
    await store.rows(documents).insertMany([document], { session: tx.session });
    await nodeTrees.add(nodes, tx);
  });
}

/** Converts a tree to nested values without ids, with siblings in their order. */
function toNested(nodes: readonly NodeRow[]): unknown[] {
  const families = Map.groupBy(nodes, ({ parent_id }) => parent_id);
  const below = (parent: string | null): unknown[] =>
    (families.get(parent) ?? [])
      .sort((a, b) => a.order - b.order || (a._id < b._id ? -1 : 1))
      .map(({ _id, node_type, title, content, order }) => ({
        node_type,
        title,
        content,
        order,
        children: below(_id),
      }));
  return below(null);
}

/** Creates a document whose section has steps with equal order. One step is older than its parent. */
function createSample(): { document: DocumentRow; nodes: NodeRow[] } {
  const document = documentRow({ node_count: 7, content_bytes: 24 });
  const moved = nodeRow(document, { node_type: 'step', title: 'moved', order: 1, content: '{"type":"x"}' });
  const section = nodeRow(document, { title: 'S', order: 2, content: '{"type":"y"}' });
  const step = (title: string, order: number) =>
    nodeRow(document, { node_type: 'step', title, order, parent_id: section._id });
  const [a, b, c] = [step('a', 1), step('b', 1), step('c', 0.5)];
  const sub = nodeRow(document, { node_type: 'sub_step', title: 'sub', parent_id: b._id });
  const other = nodeRow(document, { title: 'first', order: -1 });
  return { document, nodes: [{ ...moved, parent_id: section._id }, section, a, b, c, sub, other] };
}

test('copyTree keeps titles, content, order and ties under new ids', async () => {
  const { document, nodes } = createSample();
  await insertDocument(document, nodes);
  const to = documentRow({ organization_id: document.organization_id, node_count: 7, content_bytes: 24 });
  const at = new Date('2026-11-22T00:00:00.000Z');
  const copied = await store.transact(toActor(to), async (tx) => {
    await store.rows(documents).insertMany([to], { session: tx.session });
    return nodeTrees.copyTree(document, to, at, tx);
  });
  const read = await nodeTrees.findAll(to);
  expect(toNested(read)).toEqual(toNested(nodes));
  expect(new Set(read)).toEqual(new Set(copied));
  const originals = new Set(nodes.map(({ _id }) => _id));
  for (const node of read) {
    expect(originals.has(node._id) || originals.has(node.parent_id ?? '')).toBe(false);
    expect(node).toMatchObject({
      document_id: to._id,
      lineage_id: node._id,
      created_by: to.created_by,
      created_at: at,
      updated_at: at,
    });
  }
  expect(toNested(await nodeTrees.findAll(document))).toEqual(toNested(nodes));
});

test('copyTree to another version keeps creators and lineage', async () => {
  const { document, nodes } = createSample();
  // one node is from before lineage ids existed, so its id is its lineage id
  const [{ lineage_id: _, ...oldest } = nodeRow(document), ...others] = nodes.map((node, at) =>
    at % 2 ? node : { ...node, created_by: document._id },
  );
  await insertDocument(document, [oldest, ...others]);
  const { organization_id, family_id } = document;
  const to = documentRow({ organization_id, family_id });
  const copied = await store.transact(toActor(to), (tx) => nodeTrees.copyTree(document, to, new Date(), tx));
  const getOrigins = (copies: readonly NodeRow[]) =>
    copies.map(({ title, created_by, lineage_id }) => [title, created_by, lineage_id]).sort();
  expect(getOrigins(copied)).toEqual(getOrigins([{ ...oldest, lineage_id: oldest._id }, ...others]));
});

test('copyTree copies 10,000 nodes in one transaction, or none', async () => {
  const document = documentRow({ node_count: 10_000 });
  const section = nodeRow(document);
  const steps = Array.from({ length: 9_999 }, (_, at) =>
    nodeRow(document, { node_type: 'step', title: `${at}`, parent_id: section._id, order: at % 7 }),
  );
  await insertDocument(document, [section, ...steps]);
  const to = documentRow({ organization_id: document.organization_id, node_count: 10_000 });
  await store.transact(toActor(to), (tx) => nodeTrees.copyTree(document, to, new Date(), tx));
  expect(toNested(await nodeTrees.findAll(to))).toEqual(toNested([section, ...steps]));
  const failed = documentRow({ organization_id: document.organization_id, node_count: 10_000 });
  const failing = store.transact(toActor(failed), async (tx) => {
    await nodeTrees.copyTree(document, failed, new Date(), tx);
    throw new Error('no');
  });
  await expect(failing).rejects.toThrow('no');
  expect(await nodeTrees.findAll(failed)).toEqual([]);
});

test('findWords reads places and words, also those of its transaction', async () => {
  const { document, nodes } = createSample();
  await insertDocument(document, nodes);
  const added = nodeRow(document, { title: 'added', order: 3 });
  const toWords = ({ _id, parent_id, order, lineage_id, node_type, title, content }: NodeRow) => ({
    ...{ _id, parent_id, order, lineage_id },
    ...{ node_type, title, content },
  });
  const found = await store.transact(toActor(document), async (tx) => {
    await nodeTrees.add([added], tx);
    return nodeTrees.findWords(document, tx);
  });
  expect(new Set(found)).toEqual(new Set([...nodes, added].map(toWords)));
});

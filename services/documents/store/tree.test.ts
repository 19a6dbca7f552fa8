/** Trees in a real MongoDB: copies. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Store } from '#libs/store';
import { documentRow, nodeRow } from '../testing/rows.ts';
import { type OwnStores, ownStores } from '../testing/store-fixture.ts';
import { type DocumentRow, documents, type NodeRow } from './collections.ts';
import { type Trees, trees } from './tree.ts';

let own: OwnStores;
let store: Store;
let kept: Trees;

beforeAll(async () => {
  own = await ownStores();
  [store] = own.stores as [Store];
  kept = trees(store);
}, 60_000);
afterAll(() => own?.stop());

const acting = ({ organization_id, created_by }: DocumentRow) => ({ organization_id, user_id: created_by });

/** Keeps a document with its nodes. */
async function keep(document: DocumentRow, nodes: readonly NodeRow[]): Promise<void> {
  await store.transact(acting(document), async (tx) => {
    await store.rows(documents).insertMany([document], { session: tx.session });
    await kept.add(nodes, tx);
  });
}

/** The tree as nested values without ids, siblings in their order. */
function shapeOf(nodes: readonly NodeRow[]): unknown[] {
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

/** A document with a section that has steps with ties among them, one of which is older than its parent. */
function sample(): { document: DocumentRow; nodes: NodeRow[] } {
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

test('a copy has the same titles, content, order and ties under new ids, in another document', async () => {
  const { document, nodes } = sample();
  await keep(document, nodes);
  const to = documentRow({ organization_id: document.organization_id, node_count: 7, content_bytes: 24 });
  const at = new Date('2026-11-22T00:00:00.000Z');
  const copied = await store.transact(acting(to), async (tx) => {
    await store.rows(documents).insertMany([to], { session: tx.session });
    return kept.copyTree(document, to, to.created_by, at, tx);
  });
  const read = await kept.all(to);
  expect(shapeOf(read)).toEqual(shapeOf(nodes));
  expect(new Set(read)).toEqual(new Set(copied));
  const originals = new Set(nodes.map(({ _id }) => _id));
  for (const node of read) {
    expect(originals.has(node._id) || originals.has(node.parent_id ?? '')).toBe(false);
    expect(node).toMatchObject({
      document_id: to._id,
      created_by: to.created_by,
      created_at: at,
      updated_at: at,
    });
  }
  expect(shapeOf(await kept.all(document))).toEqual(shapeOf(nodes));
});

test('a copy that is nobody’s keeps who made each node', async () => {
  const { document, nodes } = sample();
  const others = nodes.map((node, at) => (at % 2 ? node : { ...node, created_by: document._id }));
  await keep(document, others);
  const to = documentRow({ organization_id: document.organization_id });
  const copied = await store.transact(acting(to), (tx) => kept.copyTree(document, to, null, new Date(), tx));
  const makers = ({ map }: readonly NodeRow[]) => map(({ title, created_by }) => [title, created_by]).sort();
  expect(makers(copied)).toEqual(makers(others));
});

test('10,000 nodes are copied in one transaction, and those of a transaction that fails are not', async () => {
  const document = documentRow({ node_count: 10_000 });
  const section = nodeRow(document);
  const steps = Array.from({ length: 9_999 }, (_, at) =>
    nodeRow(document, { node_type: 'step', title: `${at}`, parent_id: section._id, order: at % 7 }),
  );
  await keep(document, [section, ...steps]);
  const to = documentRow({ organization_id: document.organization_id, node_count: 10_000 });
  await store.transact(acting(to), (tx) => kept.copyTree(document, to, null, new Date(), tx));
  expect(shapeOf(await kept.all(to))).toEqual(shapeOf([section, ...steps]));
  const failed = documentRow({ organization_id: document.organization_id, node_count: 10_000 });
  const failing = store.transact(acting(failed), async (tx) => {
    await kept.copyTree(document, failed, null, new Date(), tx);
    throw new Error('no');
  });
  await expect(failing).rejects.toThrow('no');
  expect(await kept.all(failed)).toEqual([]);
}, 30_000);

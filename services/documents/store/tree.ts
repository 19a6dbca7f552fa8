/** Trees in MongoDB: the nodes of documents, read and written so that other requests get through meanwhile. */
import { newId } from '#libs/contract';
import type { Store, Transaction } from '#libs/store';
import { bytesOf, childTypeOf, type Size } from '../rules/hierarchy.ts';
import { type DocumentRow, type NodeRow, nodes } from './collections.ts';

/** About how many bytes are decoded or encoded before other requests have their turn. */
const batchBytes = 2 * 1024 * 1024;
/** The most nodes of one batch. */
const batchNodes = 250;

/** A document as far as its tree is concerned. */
export type TreeOf = Pick<DocumentRow, '_id'> & Size;

/** Reads and writes the nodes of documents that were found before. */
export function trees(store: Store) {
  const rows = store.rows(nodes);

  const made = {
    /** All nodes of a document, in no order. */
    async all(document: TreeOf, tx?: Transaction): Promise<NodeRow[]> {
      if (document.node_count === 0) return [];
      const batchSize = batchOf(document);
      return rows.find({ document_id: document._id }, null, { ...within(tx), batchSize }).lean();
    },

    /** The same in batches, each decoded when it is asked for, so that what was in the last one can be forgotten. */
    async *batches(document: TreeOf): AsyncGenerator<NodeRow[]> {
      if (document.node_count === 0) return;
      const which = { document_id: document._id };
      const cursor = rows.collection.find<NodeRow>(which, { batchSize: batchOf(document) });
      try {
        while (await cursor.hasNext()) yield cursor.readBufferedDocuments();
      } finally {
        await cursor.close();
      }
    },

    /** A node of a document. */
    async one(document: TreeOf, id: string, tx: Transaction): Promise<NodeRow | undefined> {
      const node = await rows.findOne({ _id: id, document_id: document._id }, null, within(tx)).lean();
      return node ?? undefined;
    },

    /** Adds nodes. */
    async add(added: readonly NodeRow[], tx: Transaction): Promise<void> {
      for (const batch of batchesOf(added)) await rows.insertMany(batch, { ...within(tx), lean: true });
    },

    /** Everything below a node, in no order. */
    below(document: TreeOf, node: NodeRow, tx: Transaction): Promise<NodeRow[]> {
      const options = { ...within(tx), batchSize: batchOf(document) };
      return descend(node, (parents) =>
        rows.find({ document_id: document._id, parent_id: { $in: parents } }, null, options).lean(),
      );
    },

    /** Changes a node; gives it as it is then. */
    async change(node: NodeRow, to: NodeChange, at: Date, tx: Transaction): Promise<NodeRow> {
      const change = { ...to, updated_at: at };
      await rows.updateOne({ _id: node._id }, change, within(tx));
      return { ...node, ...change };
    },

    /** Removes a node with everything below it; gives the size of what is gone. */
    async remove(document: TreeOf, node: NodeRow, tx: Transaction): Promise<Size> {
      const below = await descend(node, (parents) =>
        rows
          .aggregate<{ _id: string; bytes: number }>([
            { $match: { document_id: document._id, parent_id: { $in: parents } } },
            { $project: { bytes: { $strLenBytes: { $ifNull: ['$content', ''] } } } },
          ])
          .session(tx.session)
          .exec(),
      );
      const ids = [node._id, ...below.map(({ _id }) => _id)];
      await rows.deleteMany({ _id: { $in: ids } }, within(tx));
      const content_bytes = below.reduce((sum, { bytes }) => sum + bytes, bytesOf(node.content));
      return { node_count: ids.length, content_bytes };
    },

    /** The positions of those of these nodes that are in the document, by id. */
    async orders(document: TreeOf, ids: readonly string[], tx: Transaction): Promise<Map<string, number>> {
      const which = { _id: { $in: [...ids] }, document_id: document._id };
      const found = await rows.find(which, { order: 1 }, within(tx)).lean();
      return new Map(found.map(({ _id, order }) => [_id, order]));
    },

    /** Gives nodes other positions. */
    async reorder(to: readonly Position[], at: Date, tx: Transaction): Promise<void> {
      for (let from = 0; from < to.length; from += batchNodes) {
        const updates = to.slice(from, from + batchNodes).map(({ node_id, order }) => ({
          updateOne: { filter: { _id: node_id }, update: { $set: { order, updated_at: at } } },
        }));
        await rows.bulkWrite(updates, within(tx));
      }
    },

    /** Removes all nodes of a document. */
    async clear({ _id }: TreeOf, tx: Transaction): Promise<void> {
      await rows.deleteMany({ document_id: _id }, within(tx));
    },

    /**
     * Copies the tree of a document to another one that has no nodes, and gives the copies. Titles, content, order and
     * ties stay; ids are new. The copies are made by `created_by`, or by whoever made the originals when that is null.
     * The row of the other document is not written: its `node_count` and `content_bytes` are those of the first.
     */
    async copyTree(
      from: TreeOf,
      to: Pick<DocumentRow, '_id' | 'organization_id'>,
      created_by: string | null,
      at: Date,
      tx: Transaction,
    ): Promise<NodeRow[]> {
      const originals = await made.all(from, tx);
      // siblings of one order sort by id: the copies must be made in the order in which the originals were
      originals.sort((a, b) => (a._id < b._id ? -1 : 1));
      const copies = new Map(originals.map(({ _id }) => [_id, newId()]));
      const copied = originals.map((node) => ({
        ...node,
        _id: copyOf(copies, node._id),
        organization_id: to.organization_id,
        document_id: to._id,
        parent_id: node.parent_id === null ? null : copyOf(copies, node.parent_id),
        created_by: created_by ?? node.created_by,
        created_at: at,
        updated_at: at,
      }));
      await made.add(copied, tx);
      return copied;
    },
  };
  return made;
}

/** What of a node can change. */
export type NodeChange = Partial<Pick<NodeRow, 'title' | 'content' | 'order' | 'parent_id'>>;

/** A new position of a node. */
export interface Position {
  node_id: string;
  order: number;
}

export type Trees = ReturnType<typeof trees>;

/** Goes down from a node level by level, as far as nodes of its type can have something below them. */
async function descend<Child extends { _id: string }>(
  node: NodeRow,
  childrenOf: (parents: string[]) => Promise<Child[]>,
): Promise<Child[]> {
  const found: Child[] = [];
  let parents = [node._id];
  for (let type = childTypeOf(node.node_type); type && parents.length > 0; type = childTypeOf(type)) {
    const children = await childrenOf(parents);
    for (const child of children) found.push(child);
    parents = children.map(({ _id }) => _id);
  }
  return found;
}

function within(tx: Transaction | undefined): { session?: Transaction['session'] } {
  return tx ? { session: tx.session } : {};
}

/** How many nodes of a document are about `batchBytes`. */
function batchOf({ node_count, content_bytes }: TreeOf): number {
  const ofNode = content_bytes / Math.max(1, node_count) + 500;
  return Math.max(4, Math.min(batchNodes, Math.floor(batchBytes / ofNode)));
}

function* batchesOf(all: readonly NodeRow[]): Generator<NodeRow[]> {
  let batch: NodeRow[] = [];
  let bytes = 0;
  for (const node of all) {
    batch.push(node);
    bytes += node.content?.length ?? 0;
    if (batch.length < batchNodes && bytes < batchBytes) continue;
    yield batch;
    batch = [];
    bytes = 0;
  }
  if (batch.length > 0) yield batch;
}

function copyOf(copies: ReadonlyMap<string, string>, id: string): string {
  const copy = copies.get(id);
  if (!copy) throw new Error(`The parent ${id} of a node is not in its document`);
  return copy;
}

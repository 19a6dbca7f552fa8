/** Trees in MongoDB: the nodes of documents, read and written so that other requests get through meanwhile. */
import { newId } from '#libs/contract';
import type { Store, Transaction } from '#libs/store';
import { type DocumentRow, type NodeRow, nodes } from './collections.ts';

/** About how many bytes are decoded or encoded before other requests have their turn. */
const batchBytes = 2 * 1024 * 1024;
/** The most nodes of one batch. */
const batchNodes = 500;

/** A document as far as its tree is concerned. */
export type TreeOf = Pick<DocumentRow, '_id' | 'organization_id' | 'node_count' | 'content_bytes'>;

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

    /** A node of a document. */
    async one(document: TreeOf, id: string, tx: Transaction): Promise<NodeRow | undefined> {
      const node = await rows.findOne({ _id: id, document_id: document._id }, null, within(tx)).lean();
      return node ?? undefined;
    },

    /** Adds nodes. */
    async add(added: readonly NodeRow[], tx: Transaction): Promise<void> {
      for (const batch of batchesOf(added)) await rows.insertMany(batch, { ...within(tx), lean: true });
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

export type Trees = ReturnType<typeof trees>;

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
  if (!copy) throw new Error(`A node stands below ${id}, which is not in its document`);
  return copy;
}

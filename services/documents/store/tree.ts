/** Reads and writes the nodes of documents in MongoDB, in batches that let other requests run in between. */
import { NotFound, newId } from '#libs/contract';
import { type Actor, type Store, type Transaction, toSessionOptions } from '#libs/store';
import { toAssetIds } from '../rules/asset-references.ts';
import { countBytes, getChildType, type TreeSize } from '../rules/hierarchy.ts';
import { getLineageId } from '../rules/lineage.ts';
import { type DocumentRow, type NodeRow, nodes } from './collections.ts';

/** The approximate size of a batch, bytes. */
const batchBytes = 2 * 1024 * 1024;
/** The maximum number of nodes in a batch. */
const batchNodes = 250;

/** Identifies a document and gives the size of its tree. */
export type TreeRef = Pick<DocumentRow, '_id'> & TreeSize;

const wordFields = { parent_id: 1, order: 1, lineage_id: 1, node_type: 1, title: 1, content: 1 };

/** The place and the words of a node. Of 10,000 nodes, they take half the memory and its garbage collection. */
export type NodeWords = Pick<NodeRow, '_id' | keyof typeof wordFields>;

/** Creates the store of nodes. Its callers have authorized access to the documents. */
export function trees(store: Store) {
  const rows = store.rows(nodes);
  // for the commands of frequent requests
  const driver = store.collection(nodes);

  const tree = {
    /** Returns all nodes of a document, in no particular order. */
    findAll(document: TreeRef, tx?: Transaction): Promise<NodeRow[]> {
      return findNodes<NodeRow>(document, toSessionOptions(tx));
    },

    /** Returns the places and words of all nodes of a document, in no particular order. */
    findWords(document: TreeRef, tx: Transaction): Promise<NodeWords[]> {
      return findNodes<NodeWords>(document, { ...toSessionOptions(tx), projection: wordFields });
    },

    /** Reads all nodes of a document in batches. Decodes each batch on demand to limit memory use. */
    async *readBatches(document: TreeRef): AsyncGenerator<NodeRow[]> {
      if (document.node_count === 0) return;
      const filter = { document_id: document._id };
      const cursor = driver.find(filter, { batchSize: getBatchSize(document) });
      try {
        while (await cursor.hasNext()) yield cursor.readBufferedDocuments();
      } finally {
        await cursor.close();
      }
    },

    /** Returns a node of a document in the organization of the actor, or throws `NotFound`. */
    async get(
      { organization_id }: Actor,
      { doc_id, node_id }: { doc_id: string; node_id: string },
      tx: Transaction,
    ): Promise<NodeRow> {
      const filter = { _id: node_id, document_id: doc_id, organization_id };
      const node = await rows.findOne(filter, null, toSessionOptions(tx)).lean();
      if (!node) throw NotFound();
      return node;
    },

    /** Returns a node of a document; undefined if the document has no such node. */
    async find(document: TreeRef, id: string, tx: Transaction): Promise<NodeRow | undefined> {
      const node = await driver.findOne({ _id: id, document_id: document._id }, toSessionOptions(tx));
      return node ?? undefined;
    },

    /** Adds nodes. */
    async add(added: readonly NodeRow[], tx: Transaction): Promise<void> {
      for (const batch of splitIntoBatches(added)) await driver.insertMany(batch, toSessionOptions(tx));
    },

    /** Returns all descendants of a node, in no particular order. */
    findDescendants(document: TreeRef, node: NodeRow, tx: Transaction): Promise<NodeRow[]> {
      const options = { ...toSessionOptions(tx), batchSize: getBatchSize(document) };
      return findLevelByLevel(node, (parents) =>
        rows.find({ document_id: document._id, parent_id: { $in: parents } }, null, options).lean(),
      );
    },

    /** Changes a node and returns the changed node. */
    async change(node: NodeRow, to: NodeChange, at: Date, tx: Transaction): Promise<NodeRow> {
      const { asset_ids, ...others } = node;
      const assetIds = to.content === undefined ? keepAssetIds(asset_ids) : toAssetIds(to.content);
      const change = { ...to, ...assetIds, updated_at: at };
      const removed = asset_ids && !assetIds.asset_ids ? { $unset: { asset_ids: 1 } } : {};
      await rows.updateOne({ _id: node._id }, { $set: change, ...removed }, toSessionOptions(tx));
      return { ...others, ...change };
    },

    /** Deletes a node and its descendants and returns the size of the deleted subtree. */
    async remove(document: TreeRef, node: NodeRow, tx: Transaction): Promise<TreeSize> {
      const below = await findLevelByLevel(node, (parents) =>
        rows
          .aggregate<{ _id: string; bytes: number }>([
            { $match: { document_id: document._id, parent_id: { $in: parents } } },
            { $project: { bytes: { $strLenBytes: { $ifNull: ['$content', ''] } } } },
          ])
          .session(tx.session)
          .exec(),
      );
      const ids = [node._id, ...below.map(({ _id }) => _id)];
      await rows.deleteMany({ _id: { $in: ids } }, toSessionOptions(tx));
      const content_bytes = below.reduce((sum, { bytes }) => sum + bytes, countBytes(node.content));
      return { node_count: ids.length, content_bytes };
    },

    /** Returns the `order` of these nodes by id, without nodes that are not in the document. */
    async findOrders(
      document: TreeRef,
      ids: readonly string[],
      tx: Transaction,
    ): Promise<Map<string, number>> {
      const filter = { _id: { $in: [...ids] }, document_id: document._id };
      const found = await rows.find(filter, { order: 1 }, toSessionOptions(tx)).lean();
      return new Map(found.map(({ _id, order }) => [_id, order]));
    },

    /** Returns what identifies the nodes of a document and says who created them, by lineage id. */
    async findLineage(document: TreeRef, tx: Transaction): Promise<Map<string, LineageRow>> {
      const fields = { lineage_id: 1, created_by: 1, created_at: 1 };
      const filter = { document_id: document._id };
      const found = await rows.find(filter, fields, toSessionOptions(tx)).lean<LineageRow[]>();
      return new Map(found.map((node) => [getLineageId(node), node]));
    },

    /** Sets the `order` of nodes. */
    async reorder(to: readonly NodePosition[], at: Date, tx: Transaction): Promise<void> {
      for (let from = 0; from < to.length; from += batchNodes) {
        const updates = to.slice(from, from + batchNodes).map(({ node_id, order }) => ({
          updateOne: { filter: { _id: node_id }, update: { $set: { order, updated_at: at } } },
        }));
        await rows.bulkWrite(updates, toSessionOptions(tx));
      }
    },

    /** Deletes all nodes of a document. */
    async removeAll({ _id }: TreeRef, tx: Transaction): Promise<void> {
      await rows.deleteMany({ document_id: _id }, toSessionOptions(tx));
    },

    /**
     * Copies the tree of a document to another document without nodes, and returns the copies. Copies have
     * new ids and keep title, content, order and the sequence of ties. In another version of the document they
     * also keep lineage and creator; in a new document their creator is that of the document. Does not write the
     * row of the other document: the caller copies `node_count` and `content_bytes`.
     */
    async copyTree(
      from: TreeRef & Pick<DocumentRow, 'family_id'>,
      to: Pick<DocumentRow, '_id' | 'organization_id' | 'family_id' | 'created_by'>,
      at: Date,
      tx: Transaction,
    ): Promise<NodeRow[]> {
      const isVersion = from.family_id === to.family_id;
      const originals = await tree.findAll(from, tx);
      // siblings with equal `order` are sorted by id, so new ids are created in the sequence of the old ones
      originals.sort((a, b) => (a._id < b._id ? -1 : 1));
      const copies = new Map(originals.map(({ _id }) => [_id, newId()]));
      const copied = originals.map((node) => ({
        ...node,
        _id: getCopyId(copies, node._id),
        lineage_id: isVersion ? getLineageId(node) : getCopyId(copies, node._id),
        organization_id: to.organization_id,
        document_id: to._id,
        parent_id: node.parent_id === null ? null : getCopyId(copies, node.parent_id),
        created_by: isVersion ? node.created_by : to.created_by,
        created_at: at,
        updated_at: at,
      }));
      await tree.add(copied, tx);
      return copied;
    },
  };
  return tree;

  async function findNodes<Row extends NodeWords>(document: TreeRef, options: FindOptions): Promise<Row[]> {
    if (document.node_count === 0) return [];
    const batchSize = getBatchSize(document);
    return driver.find<Row>({ document_id: document._id }, { ...options, batchSize }).toArray();
  }
}

type FindOptions = ReturnType<typeof toSessionOptions> & { projection?: typeof wordFields };

/** The part of a node that `findLineage` reads. */
type LineageRow = Pick<NodeRow, '_id' | 'created_by' | 'created_at'> & { lineage_id?: string };

/** The fields of a node that can change. */
export type NodeChange = Partial<Pick<NodeRow, 'title' | 'content' | 'order' | 'parent_id'>>;

/** The new `order` of a node among its siblings. */
export interface NodePosition {
  node_id: string;
  order: number;
}

export type Trees = ReturnType<typeof trees>;

/** Returns the field of a row whose content does not change. */
function keepAssetIds(asset_ids: string[] | undefined): { asset_ids?: string[] } {
  return asset_ids ? { asset_ids } : {};
}

/** Collects the descendants of a node level by level, as deep as its type allows. */
async function findLevelByLevel<Child extends { _id: string }>(
  node: NodeRow,
  findChildren: (parents: string[]) => Promise<Child[]>,
): Promise<Child[]> {
  const found: Child[] = [];
  let parents = [node._id];
  for (let type = getChildType(node.node_type); type && parents.length > 0; type = getChildType(type)) {
    const children = await findChildren(parents);
    for (const child of children) found.push(child);
    parents = children.map(({ _id }) => _id);
  }
  return found;
}

/** Returns how many average nodes of a document make about `batchBytes`. */
function getBatchSize({ node_count, content_bytes }: TreeRef): number {
  const bytesPerNode = content_bytes / Math.max(1, node_count) + 500;
  return Math.max(4, Math.min(batchNodes, Math.floor(batchBytes / bytesPerNode)));
}

function* splitIntoBatches(all: readonly NodeRow[]): Generator<NodeRow[]> {
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

function getCopyId(copies: ReadonlyMap<string, string>, id: string): string {
  const copy = copies.get(id);
  if (!copy) throw new Error(`The parent ${id} of a node is not in its document`);
  return copy;
}

/** Updates the search index in MongoDB. Replicas lease outdated documents and write their words. */
import { isDuplicate, type Store } from '#libs/store';
import { normalizeTitle } from '../rules/words.ts';
import { documents, type NodeRow, nodes, search } from './collections.ts';

/** The minimum lease of claimed documents, ms. A random part of up to the same length is added. */
const leaseMs = 10_000;

/** The earliest time: the partial index holds only rows whose time is later. */
const earliest = new Date(0);

/** A claimed document. `reindex_at` is the end of the lease; it has another value if the document changed. */
export interface StaleDocument {
  _id: string;
  organization_id: string;
  title: string;
  row_version: number;
  reindex_at: Date;
}

/** The title and rich text of one node; the rich text is JSON text. */
export type NodeText = Pick<NodeRow, 'document_id' | 'title' | 'content'>;

/** Creates the store that updates the search index. */
export function searchIndex(store: Store, now: () => Date) {
  const rows = { documents: store.rows(documents), nodes: store.rows(nodes), search: store.rows(search) };

  return {
    /** Claims at most `limit` documents, longest due first. They are leased to this process. */
    async claim(limit: number): Promise<StaleDocument[]> {
      const due = { reindex_at: { $gt: earliest, $lte: now() } };
      const found = await rows.documents.find(due, { _id: 1 }).sort({ reindex_at: 1 }).limit(limit).lean();
      if (found.length === 0) return [];
      const byId = { _id: { $in: found.map(({ _id }) => _id) } };
      // random, because the time also identifies the rows that this process has claimed
      const reindex_at = new Date(now().getTime() + leaseMs * (1 + Math.random()));
      await rows.documents.updateMany({ ...due, ...byId }, { reindex_at });
      const fields = { organization_id: 1, title: 1, row_version: 1, reindex_at: 1 } as const;
      return rows.documents.find({ ...byId, reindex_at }, fields).lean<StaleDocument[]>();
    },

    /** Streams the texts of all nodes of these documents. */
    texts(documentIds: readonly string[]): AsyncIterable<NodeText> {
      const fields = { _id: 0, document_id: 1, title: 1, content: 1 } as const;
      return rows.nodes
        .find({ document_id: { $in: [...documentIds] } }, fields)
        .lean()
        .cursor();
    },

    /** Writes words, unless those of a later version exist. Marks unchanged documents as up to date. */
    async save(claimed: readonly (StaleDocument & { words: readonly string[] })[]): Promise<void> {
      const updates = claimed.map(({ _id, organization_id, row_version, words }) => ({
        updateOne: {
          filter: { _id, row_version: { $lte: row_version } },
          update: { $set: { organization_id, row_version, words: [...words] } },
          upsert: true,
        },
      }));
      const write = () => rows.search.bulkWrite(updates, { ordered: false });
      await write().catch(async (error: unknown) => {
        ignoreAlreadyExists(error);
        // if two processes insert the same row at once, the slower one finds the row when it retries
        await write().catch(ignoreAlreadyExists);
      });
      const { matchedCount } = await rows.documents.bulkWrite(
        claimed.map(({ _id, reindex_at, title }) => ({
          updateOne: {
            filter: { _id, reindex_at },
            update: { $set: { reindex_at: null, normalized_title: normalizeTitle(title) } },
          },
        })),
        { ordered: false },
      );
      if (matchedCount < claimed.length) await deleteOrphans(claimed.map(({ _id }) => _id));
    },

    /** Marks every document as outdated, once per database. Documents older than the index have no mark. */
    async backfill(): Promise<void> {
      if (await rows.search.exists({ _id: backfillId })) return;
      let after = '';
      for (;;) {
        const next = await rows.documents
          .find({ _id: { $gt: after } }, { _id: 1 })
          .sort({ _id: 1 })
          .limit(backfillBatch)
          .lean();
        const last = next.at(-1)?._id;
        if (last === undefined) break;
        const unmarked = { _id: { $gt: after, $lte: last }, reindex_at: { $not: { $gt: earliest } } };
        await rows.documents.updateMany(unmarked, { reindex_at: now() });
        after = last;
      }
      const marker = { organization_id: '', words: [], row_version: 0 };
      await rows.search.updateOne({ _id: backfillId }, { $setOnInsert: marker }, { upsert: true });
    },
  };

  /** Deletes the words of documents deleted between claim and write. Nothing else deletes them. */
  async function deleteOrphans(ids: string[]): Promise<void> {
    const existing = await rows.documents.find({ _id: { $in: ids } }, { _id: 1 }).lean();
    const existingIds = new Set(existing.map(({ _id }) => _id));
    await rows.search.deleteMany({ _id: { $in: ids.filter((id) => !existingIds.has(id)) } });
  }
}

export type SearchIndex = ReturnType<typeof searchIndex>;

/** The row of `search` that records the backfill. Another number would index all documents again. */
const backfillId = 'marked-1';
const backfillBatch = 5_000;

/** Ignores duplicate key errors: a later version or another process has already written the row. */
function ignoreAlreadyExists(error: unknown): void {
  const errors =
    typeof error === 'object' && error !== null && 'writeErrors' in error ? [error.writeErrors].flat() : [];
  if (errors.length === 0 || !errors.every(isDuplicate)) throw error;
}

/** Documents whose words are out of date, in MongoDB: replicas take them in hand by leases and bring the search index up to date. */
import { isDuplicate, type Store } from '#libs/store';
import { titleKey } from '../rules/words.ts';
import { documents, type NodeRow, nodes, search } from './collections.ts';

/** How long a process has documents in hand before another may take them, ms; up to twice as long by chance. */
const leaseMs = 10_000;

/** Any time that was ever set: the partial index of stale documents has no others. */
const ever = new Date(0);

/** A document in hand: what is read of its row, and the lease that tells whether it was changed since. */
export interface Stale {
  _id: string;
  organization_id: string;
  title: string;
  row_version: number;
  reindex_at: Date;
}

/** The text of one node, its rich text as JSON text. */
export type NodeText = Pick<NodeRow, 'document_id' | 'title' | 'content'>;

/** Reads what is out of date and writes what documents are found by. */
export function searchIndex(store: Store, now: () => Date) {
  const rows = { documents: store.rows(documents), nodes: store.rows(nodes), search: store.rows(search) };

  return {
    /** Takes documents in hand, those that have waited longest first; no other process has them until the lease is over. */
    async claim(most: number): Promise<Stale[]> {
      const due = { reindex_at: { $gt: ever, $lte: now() } };
      const found = await rows.documents.find(due, { _id: 1 }).sort({ reindex_at: 1 }).limit(most).lean();
      if (found.length === 0) return [];
      const which = { _id: { $in: found.map(({ _id }) => _id) } };
      // by chance of its own: the time is also the token by which a process knows its rows
      const reindex_at = new Date(now().getTime() + leaseMs * (1 + Math.random()));
      await rows.documents.updateMany({ ...due, ...which }, { reindex_at });
      const fields = { organization_id: 1, title: 1, row_version: 1, reindex_at: 1 } as const;
      return rows.documents.find({ ...which, reindex_at }, fields).lean<Stale[]>();
    },

    /** The texts of the nodes of these documents, one after the other. */
    texts(documentIds: readonly string[]): AsyncIterable<NodeText> {
      const fields = { _id: 0, document_id: 1, title: 1, content: 1 } as const;
      return rows.nodes
        .find({ document_id: { $in: [...documentIds] } }, fields)
        .lean()
        .cursor();
    },

    /** Writes words, unless they are there from a later version; documents that did not change meanwhile are up to date then. */
    async save(found: readonly (Stale & { words: readonly string[] })[]): Promise<void> {
      const written = found.map(({ _id, organization_id, row_version, words }) => ({
        updateOne: {
          filter: { _id, row_version: { $lte: row_version } },
          update: { $set: { organization_id, row_version, words: [...words] } },
          upsert: true,
        },
      }));
      const write = () => rows.search.bulkWrite(written, { ordered: false });
      await write().catch(async (error: unknown) => {
        unlessThere(error);
        // of two that insert the same row at once the slower one finds it there the second time
        await write().catch(unlessThere);
      });
      const { matchedCount } = await rows.documents.bulkWrite(
        found.map(({ _id, reindex_at, title }) => ({
          updateOne: {
            filter: { _id, reindex_at },
            update: { $set: { reindex_at: null, normalized_title: titleKey(title) } },
          },
        })),
        { ordered: false },
      );
      if (matchedCount < found.length) await forgetDeleted(found.map(({ _id }) => _id));
    },

    /**
     * Once for a database: every document is out of date. Those that were written before there was a search index have
     * nothing that says so.
     */
    async backfill(): Promise<void> {
      if (await rows.search.exists({ _id: sweepId })) return;
      let after = '';
      for (;;) {
        const next = await rows.documents
          .find({ _id: { $gt: after } }, { _id: 1 })
          .sort({ _id: 1 })
          .limit(sweepBatch)
          .lean();
        const last = next.at(-1)?._id;
        if (last === undefined) break;
        const unmarked = { _id: { $gt: after, $lte: last }, reindex_at: { $not: { $gt: ever } } };
        await rows.documents.updateMany(unmarked, { reindex_at: now() });
        after = last;
      }
      const done = { organization_id: '', words: [], row_version: 0 };
      await rows.search.updateOne({ _id: sweepId }, { $setOnInsert: done }, { upsert: true });
    },
  };

  /** A document may have been deleted after it was read and before its words were written: nobody else would miss them. */
  async function forgetDeleted(ids: string[]): Promise<void> {
    const there = await rows.documents.find({ _id: { $in: ids } }, { _id: 1 }).lean();
    const kept = new Set(there.map(({ _id }) => _id));
    await rows.search.deleteMany({ _id: { $in: ids.filter((id) => !kept.has(id)) } });
  }
}

export type SearchIndex = ReturnType<typeof searchIndex>;

/** The row of `search` that says that every document was marked; another number would have all words read again. */
const sweepId = 'marked-1';
const sweepBatch = 5_000;

/** Swallows that rows are there already: from a later version, or from another process at the same moment. */
function unlessThere(error: unknown): void {
  const errors =
    typeof error === 'object' && error !== null && 'writeErrors' in error ? [error.writeErrors].flat() : [];
  if (errors.length === 0 || !errors.every(isDuplicate)) throw error;
}

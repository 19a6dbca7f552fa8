/** Updates the search index in MongoDB. The replica that holds the lease writes the words of outdated documents. */
import { newId } from '#libs/contract';
import { isDuplicate, type Store, withTimeout } from '#libs/store';
import { normalizeTitle } from '../rules/words.ts';
import { type DocumentRow, documents, type NodeRow, nodes, type SearchRow, search } from './collections.ts';

/**
 * The length of the lease, ms. The holder renews it when half of it has passed, if there is work. A process that does
 * not get it tries again after the same time.
 */
const leaseMs = 10_000;

const postponeMs = 60_000;

/** The earliest time: the partial index holds only rows whose time is later. */
const earliest = new Date(0);

/** A document with outdated words. */
export interface StaleDocument extends Pick<DocumentRow, '_id' | 'organization_id' | 'title'> {
  row_version: number;
  node_count: number;
  reindex_at: Date;
}

/** An outdated document with its new words. */
export type IndexedDocument = StaleDocument & Required<Pick<SearchRow, 'words' | 'word_bytes'>>;

/** The title and rich text of one node; the rich text is JSON text. */
export type NodeText = Pick<NodeRow, 'document_id' | 'title' | 'content'>;

/** Creates the store that updates the search index. */
export function searchIndex(store: Store, now: () => Date) {
  const rows = { documents: store.rows(documents), search: store.rows(search) };
  // for bulk writes the driver needs half of mongoose's CPU time, and it streams rows faster
  const driver = {
    documents: store.collection(documents),
    nodes: store.collection(nodes),
    search: store.collection(search),
  };
  const holder = newId();
  let leasedUntil = 0;
  let triesAgainAt = 0;

  return {
    /** Finds at most `limit` documents with outdated words, longest outdated first. */
    findStale(limit: number): Promise<StaleDocument[]> {
      const due = { reindex_at: { $gt: earliest, $lte: now() } };
      const fields = 'organization_id title row_version node_count reindex_at';
      return rows.documents.find(due, fields).sort({ reindex_at: 1 }).limit(limit).lean<StaleDocument[]>();
    },

    /** Returns whether another process has just held the lease. Asks no database. */
    isLeasedElsewhere(): boolean {
      return now().getTime() < triesAgainAt;
    },

    /** Returns whether this process holds the lease. Takes the lease if it is free, and renews it in time. */
    async acquireLease(): Promise<boolean> {
      const at = now().getTime();
      if (leasedUntil - at > leaseMs / 2) return true;
      const freeLease = {
        _id: leaseId,
        $or: [
          { leased_by: holder },
          { leased_until: { $lte: new Date(at) } },
          // written by a clock that was ahead
          { leased_until: { $gt: new Date(at + 2 * leaseMs) } },
        ],
      };
      const lease = { ...noWords, leased_by: holder, leased_until: new Date(at + leaseMs) };
      try {
        await rows.search.updateOne(freeLease, lease, { upsert: true });
      } catch (error) {
        // the row exists, but another process holds the lease
        if (!isDuplicate(error)) throw error;
        triesAgainAt = at + leaseMs / 2;
        return false;
      }
      leasedUntil = at + leaseMs;
      return true;
    },

    /** Ends the lease of this process, so that another process can take it at once. Waits at most two seconds. */
    async releaseLease(): Promise<void> {
      if (leasedUntil <= now().getTime()) return;
      leasedUntil = 0;
      const own = { _id: leaseId, leased_by: holder };
      await withTimeout(rows.search.updateOne(own, { leased_until: now() }).exec());
    },

    /** Leaves a document alone for a minute, because its words cannot be collected or written. */
    async postpone({ _id, row_version, reindex_at }: StaleDocument): Promise<void> {
      const later = new Date(now().getTime() + postponeMs);
      await rows.documents.updateOne({ _id, row_version, reindex_at }, { reindex_at: later });
    },

    /** Streams the texts of all nodes of these documents. */
    texts(documentIds: readonly string[]): AsyncIterable<NodeText> {
      const projection = { _id: 0, document_id: 1, title: 1, content: 1 };
      return driver.nodes.find<NodeText>({ document_id: { $in: [...documentIds] } }, { projection });
    },

    /**
     * Writes words, unless those of a later version exist. Marks documents as up to date if they have not
     * changed since they were found.
     */
    async save(documents: readonly IndexedDocument[]): Promise<void> {
      const updates = documents.map(({ _id, organization_id, row_version, words, word_bytes }) => ({
        updateOne: {
          filter: { _id, row_version: { $lte: row_version } },
          update: { $set: { organization_id, row_version, words: [...words], word_bytes } },
          upsert: true,
        },
      }));
      const write = () => driver.search.bulkWrite(updates, { ordered: false });
      await write().catch(async (error: unknown) => {
        ignoreAlreadyExists(error);
        // if two processes insert the same row at once, the slower one finds the row when it retries
        await write().catch(ignoreAlreadyExists);
      });
      const { matchedCount } = await driver.documents.bulkWrite(
        documents.map(({ _id, row_version, reindex_at, title }) => ({
          updateOne: {
            filter: { _id, row_version, reindex_at },
            update: { $set: { reindex_at: null, normalized_title: normalizeTitle(title) } },
          },
        })),
        { ordered: false },
      );
      if (matchedCount < documents.length) await deleteOrphans(documents.map(({ _id }) => _id));
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
      await rows.search.updateOne({ _id: backfillId }, { $setOnInsert: noWords }, { upsert: true });
    },
  };

  /** Deletes the words of documents deleted since they were found. Nothing else deletes them. */
  async function deleteOrphans(ids: string[]): Promise<void> {
    const existing = await rows.documents.find({ _id: { $in: ids } }, { _id: 1 }).lean();
    const existingIds = new Set(existing.map(({ _id }) => _id));
    await rows.search.deleteMany({ _id: { $in: ids.filter((id) => !existingIds.has(id)) } });
  }
}

export type SearchIndex = ReturnType<typeof searchIndex>;

/** The row of `search` that records the backfill. Another number would index all documents again. */
const backfillId = 'marked-3';
const backfillBatch = 5_000;

/** The fields of rows that belong to no document. */
const noWords = { organization_id: '', words: [], row_version: 0 };

/** The row of `search` that records which process updates the index. */
const leaseId = 'lease';

/** Ignores duplicate key errors: a later version or another process has already written the row. */
function ignoreAlreadyExists(error: unknown): void {
  const errors =
    typeof error === 'object' && error !== null && 'writeErrors' in error ? [error.writeErrors].flat() : [];
  if (errors.length === 0 || !errors.every(isDuplicate)) throw error;
}

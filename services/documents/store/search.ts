/** The search index in MongoDB: for each document the words it is found by (docs/adr/0013), kept up to date behind the writes. */
import type { Actor, Store, Transaction } from '#libs/store';
import { titleKey } from '../rules/words.ts';
import { type DocumentRow, search as searchRows } from './collections.ts';

/** The most documents that one question finds. */
export const mostMatches = 1_000;

/** How many documents with the rarest word are looked through for the others: what bounds the time of any question. */
const mostCandidates = 10 * mostMatches;

/** How many words are counted to find the rarest. */
const mostCounted = 8;

/** Finds documents by their words. */
export function search(store: Store) {
  const rows = store.rows(searchRows);

  return {
    /**
     * The ids of at most 1,000 documents that have all of these words, the newest first. Of several words that are all
     * frequent, only the newest 10,000 documents with the rarest of them are looked through.
     */
    async matches({ organization_id }: Actor, words: readonly string[]): Promise<string[]> {
      const [rarest, ...others] = await rarestFirst(organization_id, words);
      if (rarest === undefined) return [];
      const found = await rows
        .aggregate<{ _id: string }>([
          { $match: { organization_id, words: rarest } },
          { $sort: { _id: -1 } },
          { $limit: others.length > 0 ? mostCandidates : mostMatches },
          ...(others.length > 0 ? [{ $match: { words: { $all: others } } }, { $limit: mostMatches }] : []),
          { $project: { _id: 1 } },
        ])
        .exec();
      return found.map(({ _id }) => _id);
    },

    /** Forgets a document, in the transaction that deletes it. */
    async forget(documentId: string, { session }: Transaction): Promise<void> {
      await rows.deleteOne({ _id: documentId }, { session });
    },
  };

  /** MongoDB reads the index for the first word alone: it had better be the rarest. None when a word is in no document. */
  async function rarestFirst(organization_id: string, words: readonly string[]): Promise<readonly string[]> {
    if (words.length < 2) return words;
    const longestFirst = words.toSorted((a, b) => b.length - a.length);
    const counts = await Promise.all(
      longestFirst.slice(0, mostCounted).map(async (word) => ({
        word,
        count: await rows.countDocuments({ organization_id, words: word }, { limit: mostCandidates }),
      })),
    );
    // the first of those that are equally frequent is the longest
    const rarest = counts.reduce((least, one) => (one.count < least.count ? one : least));
    return rarest.count === 0 ? [] : [rarest.word, ...words.filter((word) => word !== rarest.word)];
  }
}

export type Search = ReturnType<typeof search>;

/** Fields of a document whose change leaves its words as they were. */
const wordless: ReadonlySet<string> = new Set<keyof DocumentRow>([
  'version',
  'department',
  'status',
  'published_at',
  'archived_at',
  'editor_id',
  'share_epoch',
]);

/**
 * What every write of a document's row adds to it, so that lists and searches follow: the title as it is sorted, and that
 * the words are out of date. A change that names no field is one of the tree.
 */
export function marks(
  change: Partial<DocumentRow>,
  at: Date,
): { normalized_title?: string; reindex_at?: Date } {
  const fields = Object.keys(change);
  if (fields.length > 0 && fields.every((field) => wordless.has(field))) return {};
  return { reindex_at: at, ...(change.title !== undefined && { normalized_title: titleKey(change.title) }) };
}

/** Finds documents by their words in MongoDB (docs/adr/0013). The search index lags behind the writes. */
import type { Actor, Store, Transaction } from '#libs/store';
import { normalizeTitle } from '../rules/words.ts';
import { search as searchRows } from './collections.ts';

/** The maximum number of documents that one query finds. */
const maxMatches = 1_000;

/** How many documents with the rarest word are checked for the other words. Bounds the query time. */
const maxCandidates = 10 * maxMatches;

/** The number of words whose documents are counted to find the rarest word. */
const maxCountedWords = 8;

/** Creates the store that finds documents by their words. */
export function search(store: Store) {
  const rows = store.rows(searchRows);

  return {
    /**
     * Returns the ids of at most 1,000 documents that contain all of these words, newest first. If all words
     * are frequent, only the newest 10,000 documents with the rarest word are checked.
     */
    async matches({ organization_id }: Actor, words: readonly string[]): Promise<string[]> {
      const [rarest, ...others] = await sortRarestFirst(organization_id, words);
      if (rarest === undefined) return [];
      const found = await rows
        .aggregate<{ _id: string }>([
          { $match: { organization_id, words: rarest } },
          { $sort: { _id: -1 } },
          { $limit: others.length > 0 ? maxCandidates : maxMatches },
          ...(others.length > 0 ? [{ $match: { words: { $all: others } } }, { $limit: maxMatches }] : []),
          { $project: { _id: 1 } },
        ])
        .exec();
      return found.map(({ _id }) => _id);
    },

    /** Deletes the words of a document, in the transaction that deletes the document. */
    async remove(documentId: string, { session }: Transaction): Promise<void> {
      await rows.deleteOne({ _id: documentId }, { session });
    },
  };

  /** Puts the rarest word first: MongoDB scans the index only for that. Empty if a word is in no document. */
  async function sortRarestFirst(
    organization_id: string,
    words: readonly string[],
  ): Promise<readonly string[]> {
    if (words.length < 2) return words;
    const longestFirst = words.toSorted((a, b) => b.length - a.length);
    const counts = await Promise.all(
      longestFirst.slice(0, maxCountedWords).map(async (word) => ({
        word,
        count: await rows.countDocuments({ organization_id, words: word }, { limit: maxCandidates }),
      })),
    );
    // of equally frequent words, the first is the longest
    const rarest = counts.reduce((least, next) => (next.count < least.count ? next : least));
    return rarest.count === 0 ? [] : [rarest.word, ...words.filter((word) => word !== rarest.word)];
  }
}

export type Search = ReturnType<typeof search>;

/**
 * Returns the fields to store with a change of a document: the normalized title, and the mark that its words
 * are outdated. Returns no fields if neither the title nor a text in the tree changes.
 */
export function scheduleReindex(
  { title, changesText }: { title?: string | undefined; changesText: boolean },
  at: Date,
): { normalized_title?: string; reindex_at?: Date } {
  if (title === undefined && !changesText) return {};
  return { reindex_at: at, ...(title !== undefined && { normalized_title: normalizeTitle(title) }) };
}

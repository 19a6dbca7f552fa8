/** Finds documents by their words in MongoDB (docs/adr/0013), and adds the words of new nodes (docs/adr/0072). */
import type { Actor, Store, Transaction } from '#libs/store';
import { normalizeTitle, wordBag } from '../rules/words.ts';
import { type DocumentRow, search as searchRows } from './collections.ts';

/** The maximum number of documents that one query finds. */
const maxMatches = 1_000;

/** How many documents with the rarest word are checked for the other words. Bounds the query time. */
const maxCandidates = 10 * maxMatches;

/** At most this many words of a query, the longest ones, are counted to find the rarest. */
const maxCountedWords = 8;

/**
 * If the words of a document take more bytes, as `WordBag` counts them, `addNodeWords` adds none: MongoDB would compare
 * all words of the document for each new node, and indexing it once after several changes costs less.
 */
const maxBytesBeforeAdding = 8 * 1024;

/** Creates the store that finds documents by their words. */
export function search(store: Store) {
  const rows = store.rows(searchRows);
  // takes less CPU time than mongoose, for a frequent request
  const driver = store.collection(searchRows);

  return {
    /**
     * Returns the ids of at most 1,000 documents that contain all of these words, newest first. If all words
     * are frequent, only the newest 10,000 documents with the rarest word are checked.
     */
    async matches({ organization_id }: Actor, words: readonly string[]): Promise<string[]> {
      const [rarest, ...others] = await putRarestFirst(organization_id, words);
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

    /**
     * Adds the words of the title of a new node, which has no other text, to the words of its document, in the
     * transaction that adds the node. Adds nothing and returns false if the index worker has to write the words of the
     * document: because they are outdated, missing or many. The caller then marks the document (`scheduleReindex`).
     */
    async addNodeWords(
      { _id, row_version, reindex_at }: DocumentRow,
      title: string,
      { session }: Transaction,
    ): Promise<boolean> {
      if (reindex_at !== null) return false;
      const titleWords = wordBag();
      titleWords.add(title);
      const filter = { _id, word_bytes: { $lte: maxBytesBeforeAdding } };
      const change = {
        $addToSet: { words: { $each: [...titleWords.words] } },
        // too much if the document has some of the words already, until the worker writes all of them again
        $inc: { word_bytes: titleWords.bytes() },
        // the version that the document gets in this transaction: the worker does not overwrite words of a later one
        $set: { row_version: row_version + 1 },
      };
      const { matchedCount } = await driver.updateOne(filter, change, { session });
      return matchedCount > 0;
    },

    /** Deletes the words of a document, in the transaction that deletes the document. */
    async remove(documentId: string, { session }: Transaction): Promise<void> {
      await rows.deleteOne({ _id: documentId }, { session });
    },
  };

  /**
   * Puts the rarest of the counted words first, because MongoDB scans the index only for the first one. Returns no
   * words if one of them is in no document of the organization.
   */
  async function putRarestFirst(
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
    // of equally frequent words, the longest one
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

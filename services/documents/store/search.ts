/** Finds documents by their words in MongoDB (docs/adr/0013), and adds the words of new nodes (docs/adr/0072). */
import type { Actor, Store, Transaction } from '#libs/store';
import { normalizeTitle, wordBag } from '../rules/words.ts';
import { type DocumentRow, search as searchRows } from './collections.ts';

/** The maximum number of documents that one query finds. */
const maxMatches = 1_000;

/** How many documents with the rarest word are checked for the other words. Bounds the query time. */
const maxCandidates = 10 * maxMatches;

/** The number of words whose documents are counted to find the rarest word. */
const maxCountedWords = 8;

/**
 * The maximum size of a document's words to which those of a title are added at once, see `WordBag`. MongoDB reads and
 * compares all of them, so for a document with more words, indexing it once after several changes costs less.
 */
const maxExtendedBytes = 8 * 1024;

/** Creates the store that finds documents by their words. */
export function search(store: Store) {
  const rows = store.rows(searchRows);
  // for the command of a frequent request
  const driver = store.collection(searchRows);

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

    /**
     * Adds the words of a new node to those of its document, in the transaction that adds the node. Returns false if
     * the document has many words or outdated ones: then it must be indexed again.
     */
    async addTitle(
      { _id, row_version, reindex_at }: DocumentRow,
      title: string,
      { session }: Transaction,
    ): Promise<boolean> {
      if (reindex_at !== null) return false;
      const added = wordBag();
      added.add(title);
      const hasFewWords = { _id, word_bytes: { $lte: maxExtendedBytes } };
      const change = {
        $addToSet: { words: { $each: [...added.words] } },
        // also counts words that the document has already
        $inc: { word_bytes: added.bytes() },
        $set: { row_version: row_version + 1 },
      };
      const { matchedCount } = await driver.updateOne(hasFewWords, change, { session });
      return matchedCount > 0;
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

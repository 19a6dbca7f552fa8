/** Runs the worker that updates the search index. Every replica runs it, and only the holder of the lease works. */
import { toPlainText } from '#libs/rich-text';
import { every, type Worker } from '#libs/service';
import { isUnavailable } from '#libs/store';
import { startTimeSlices } from '#libs/workers';
import { type WordBag, wordBag } from './rules/words.ts';
import type { IndexedDocument, SearchIndex, StaleDocument } from './store/search-index.ts';

const pollMs = 1_500;
const batchSize = 50;

/** The dependencies of `searchIndexWorker`. */
export interface SearchIndexWorkerDeps {
  searchIndex: SearchIndex;
  onError(message: string, error: unknown): void;
}

/**
 * Creates the worker. Changes can be found within two seconds, unless the worker falls behind or the holder of the
 * lease was killed. A document that changes several times in between is processed once.
 */
export function searchIndexWorker({ searchIndex, onError }: SearchIndexWorkerDeps): Worker {
  let isBackfilled = false;
  const worker = every(pollMs, refresh, (error) => onError('Could not update the search index', error));
  return {
    start: () => worker.start(),
    async stop() {
      await worker.stop();
      // without MongoDB, the lease ends by itself
      await searchIndex.releaseLease().catch(() => undefined);
    },
  };

  async function refresh(isStopped: () => boolean): Promise<void> {
    if (!isBackfilled) {
      await searchIndex.backfill();
      isBackfilled = true;
    }
    for (let hasMore = !searchIndex.isLeasedElsewhere(); hasMore && !isStopped(); ) {
      const documents = await searchIndex.findStale(batchSize);
      if (documents.length === 0 || !(await searchIndex.acquireLease())) return;
      await index(documents);
      hasMore = documents.length === batchSize;
    }
  }

  /** Writes the words of documents. If that fails, tries each document on its own, and postpones the failing ones. */
  async function index(documents: readonly StaleDocument[]): Promise<void> {
    try {
      await searchIndex.save(await collectWords(documents));
    } catch (error) {
      if (isUnavailable(error)) throw error;
      const [first, ...others] = documents;
      if (others.length > 0) for (const document of documents) await index([document]);
      else if (first) {
        onError(`Could not index the words of document ${first._id}`, error);
        await searchIndex.postpone(first);
      }
    }
  }

  /**
   * Returns the documents with their words, those of the titles first. The words are extracted here, not by
   * the write: writes store no extra text, and a node that is saved ten times a second is processed once.
   */
  async function collectWords(documents: readonly StaleDocument[]): Promise<IndexedDocument[]> {
    const bags = new Map(documents.map(({ _id, title }) => [_id, createBags(title)]));
    const withNodes = documents.filter(({ node_count }) => node_count > 0).map(({ _id }) => _id);
    const slices = startTimeSlices();
    const texts = withNodes.length > 0 ? searchIndex.texts(withNodes) : [];
    for await (const { document_id, title, content } of texts) {
      const bag = bags.get(document_id);
      if (!bag) continue;
      bag.titles.add(title);
      if (content !== null && !bag.text.isFull()) bag.text.add(parseText(document_id, content));
      if (slices.isOver()) await slices.next();
    }
    return documents.map((document) => ({
      ...document,
      ...mergeWords(bags.get(document._id) ?? createBags(document.title)),
    }));
  }

  /** Extracts plain text from rich text. Logs and skips invalid rich text, so other text is still indexed. */
  function parseText(documentId: string, content: string): string {
    try {
      return toPlainText(JSON.parse(content));
    } catch (error) {
      onError(`Could not read rich text of document ${documentId}`, error);
      return '';
    }
  }
}

function createBags(title: string) {
  const bags = { titles: wordBag(), text: wordBag() };
  bags.titles.add(title);
  return bags;
}

function mergeWords({ titles, text }: { titles: WordBag; text: WordBag }) {
  titles.addWords(text.words);
  return { words: [...titles.words], word_bytes: titles.bytes() };
}

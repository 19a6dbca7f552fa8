/** Searching: brings the words that documents are found by up to date, behind the writes, in every replica. */
import { setImmediate as breathe } from 'node:timers/promises';
import { toPlainText } from '#libs/rich-text';
import { every, type Worker } from '#libs/service';
import { type WordBag, wordBag } from './rules/words.ts';
import type { SearchIndex, Stale } from './store/search-index.ts';

const pauseMs = 500;
const batch = 50;

/** How much text is read before others have their turn, in characters of JSON. */
const breath = 64 * 1024;

/** What searching needs. */
export interface Searching {
  stale: SearchIndex;
  onError(what: string, error: unknown): void;
}

/** The worker: what is changed can be found within a second, unless there is more than it can do. */
export function searching({ stale, onError }: Searching): Worker {
  let isStopped = false;
  let isMarked = false;
  const worker = every(pauseMs, refresh, (error) =>
    onError('The search index could not be brought up to date', error),
  );
  return {
    start: () => worker.start(),
    async stop() {
      isStopped = true;
      await worker.stop();
    },
  };

  async function refresh(): Promise<void> {
    if (!isMarked) {
      await stale.backfill();
      isMarked = true;
    }
    for (let more = true; more && !isStopped; ) {
      const documents = await stale.claim(batch);
      if (documents.length > 0) await stale.save(await read(documents));
      more = documents.length === batch;
    }
  }

  /**
   * The documents with their words, those of the titles first. The text is taken from the rich text here instead of being
   * kept beside it: a write then stores nothing twice, and a node that is saved ten times a second is read once.
   */
  async function read(documents: readonly Stale[]): Promise<(Stale & { words: string[] })[]> {
    const bags = new Map(documents.map(({ _id, title }) => [_id, bagsOf(title)]));
    let unbreathed = 0;
    for await (const { document_id, title, content } of stale.texts([...bags.keys()])) {
      const bag = bags.get(document_id);
      if (!bag) continue;
      bag.titles.add(title);
      if (content !== null && !bag.text.isFull()) bag.text.add(textOf(document_id, content));
      unbreathed += content?.length ?? 0;
      if (unbreathed < breath) continue;
      unbreathed = 0;
      await breathe();
    }
    return documents.map((document) => ({ ...document, words: together(bags.get(document._id)) }));
  }

  /** The plain text of rich text that is kept as JSON text. What cannot be read must not keep others from being found. */
  function textOf(documentId: string, content: string): string {
    try {
      return toPlainText(JSON.parse(content));
    } catch (error) {
      onError(`Document ${documentId} has rich text that cannot be read`, error);
      return '';
    }
  }
}

function bagsOf(title: string) {
  const bags = { titles: wordBag(), text: wordBag() };
  bags.titles.add(title);
  return bags;
}

function together(bags: { titles: WordBag; text: WordBag } | undefined): string[] {
  if (!bags) return [];
  bags.titles.take(bags.text.words);
  return [...bags.titles.words];
}

/** Renders the rows of a list as JSON. */
import { LRUCache } from 'lru-cache';
import { decodeRow } from '#libs/store';
import { toSummary } from './presenters.ts';
import type { ListedRow } from './store/listing.ts';

/** The size of the cache: about 2,000 documents. */
const cacheBytes = 4 * 2 ** 20;

/**
 * Creates a function that renders a row, as MongoDB sent it, as the JSON of a summary. It remembers the text,
 * because the same documents are listed again and again. The bytes are the key, so no text is ever outdated.
 */
export function summaryRenderer(): (row: Uint8Array) => string {
  const texts = new LRUCache<string, string>({
    maxSize: cacheBytes,
    // a character of the text takes at most two bytes, one of the key takes one
    sizeCalculation: (text, key) => 2 * text.length + key.length,
  });
  return (row) => {
    const key = Buffer.from(row.buffer, row.byteOffset, row.byteLength).toString('latin1');
    const known = texts.get(key);
    if (known !== undefined) return known;
    const text = JSON.stringify(toSummary(decodeRow<ListedRow>(row)));
    texts.set(key, text);
    return text;
  };
}

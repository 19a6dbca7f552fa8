/**
 * Inserts the address of a link into a document that shows pictures. Rendered documents are cached without it, because
 * every link to a document shares them.
 */
import { randomBytes } from 'node:crypto';

/**
 * The character before the id of each asset in a rendered document. Text of a document cannot contain it: JSON escapes
 * control characters, and HTML omits them.
 */
const mark = '\u0001';
const markByte = 1;

/** Renders pieces of text. `render` gets what stands for the address of the link; the mark replaces it. */
export function* markAddresses(render: (address: string) => Iterable<string>): Generator<string> {
  const placeholder = randomBytes(16).toString('hex');
  for (const piece of render(placeholder)) yield piece.replaceAll(placeholder, mark);
}

/** Returns whether a rendered document shows pictures. */
export function hasAddresses(bytes: Uint8Array): boolean {
  return bytes.includes(markByte);
}

/** Replaces each mark by the address, which is escaped for the format of the document. */
export function fillAddresses(bytes: Uint8Array, address: string): Uint8Array {
  const inserted = Buffer.from(address);
  const parts: Uint8Array[] = [];
  let from = 0;
  for (let at = bytes.indexOf(markByte); at !== -1; at = bytes.indexOf(markByte, from)) {
    parts.push(bytes.subarray(from, at), inserted);
    from = at + 1;
  }
  return from === 0 ? bytes : Buffer.concat([...parts, bytes.subarray(from)]);
}

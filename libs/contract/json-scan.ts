/** Finds what JSON has too much of, before a parser or a validator works on it. Threads load this file. */

/** The maximum number of nested lists and objects. */
const maxDepth = 128;

/**
 * The maximum number of commas, lists and objects. The parser keeps a pointer to each value outside of the heap, where
 * no limit holds. The densest correct tree of 32 MiB has about four million.
 */
const maxMarks = 5_000_000;

/**
 * The maximum number of different names. Each costs the parser and the validator much more than a repeated name. A
 * correct tree has about thirty, and the attributes of its rich text.
 */
const maxNames = 1_000;

const [quote, backslash, comma, colon, openList, closeList, openObject, closeObject] =
  Buffer.from('"\\,:[]{}');

/** Returns what UTF-8 bytes have too much of; undefined if nothing. They need not be JSON. */
export function findExcess(bytes: Uint8Array): string | undefined {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const names = new Set<string>();
  let [depth, marks] = [0, 0];
  /** Where the last string begins and ends. */
  let [start, end] = [0, 0];
  for (let at = 0; at < buffer.length; at += 1) {
    const byte = buffer[at];
    if (byte === quote) {
      start = at + 1;
      end = findStringEnd(buffer, start);
      at = end;
    } else if (byte === colon) {
      names.add(buffer.toString('latin1', start, end));
      // a colon without a string before it has no name
      start = end;
      if (names.size > maxNames) return 'The JSON has more than 1,000 different names.';
    } else if (byte === openList || byte === openObject) {
      depth += 1;
      marks += 1;
      if (depth > maxDepth) return `The JSON is nested deeper than ${maxDepth} levels.`;
    } else if (byte === closeList || byte === closeObject) depth -= 1;
    else if (byte === comma) marks += 1;
  }
  return marks > maxMarks ? 'The JSON has more than five million commas, lists and objects.' : undefined;
}

/** Returns the position of the quote that ends a string, or of the end of the bytes. */
function findStringEnd(bytes: Uint8Array, start: number): number {
  for (let at = start; at < bytes.length; at += 1) {
    if (bytes[at] === backslash) at += 1;
    else if (bytes[at] === quote) return at;
  }
  return bytes.length;
}

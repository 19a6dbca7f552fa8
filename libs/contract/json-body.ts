/** Parses a JSON body and validates it. Threads load this file, so it imports little. */
import { createHash } from 'node:crypto';
import type { z } from 'zod';
import { addError, checkShape, createInputErrors, type InputErrors } from './input-errors.ts';
import { findLoneSurrogates } from './lone-surrogates.ts';

/** The maximum number of nested lists and objects. */
const maxDepth = 128;

/**
 * The maximum number of commas, lists and objects. The parser keeps a pointer to each value outside of the heap, where
 * no limit holds. The densest correct tree of 32 MiB has about four million.
 */
const maxMarks = 5_000_000;

/** A parsed body: its value or its errors, or `malformed` if it is not JSON, with the reason if there is one. */
export interface JsonBody {
  value: unknown;
  errors: InputErrors;
  malformed?: { reason: string | undefined };
  /** SHA-256 of the bytes, to recognize a repeated request. */
  hash: string;
}

/** Parses UTF-8 bytes as JSON and validates the value, `undefined` for an empty body. */
export function parseJsonBody(shape: z.ZodType, bytes: Uint8Array): JsonBody {
  const errors = createInputErrors();
  const hash = createHash('sha256').update(bytes).digest('base64url');
  const malformed = (reason?: string) => ({ value: undefined, errors, malformed: { reason }, hash });
  const excess = findExcess(bytes);
  if (excess) return malformed(excess);
  let value: unknown;
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
    if (text !== '') value = JSON.parse(text);
    // only an escape can be half of a character
    if (surrogateEscape.test(text))
      for (const error of findLoneSurrogates(value, 'body')) addError(errors, error);
  } catch {
    return malformed();
  }
  return { value: checkShape(shape, value, 'body', errors), errors, hash };
}

const surrogateEscape = /\\u[dD][89a-fA-F]/;
const [quote, backslash, comma, openList, closeList, openObject, closeObject] = Buffer.from('"\\,[]{}');

/** Returns what JSON has too much of, before a parser or a validator works on it. */
function findExcess(bytes: Uint8Array): string | undefined {
  let depth = 0;
  let marks = 0;
  let isInString = false;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at];
    if (isInString) {
      if (byte === backslash) at += 1;
      else if (byte === quote) isInString = false;
    } else if (byte === quote) isInString = true;
    else if (byte === openList || byte === openObject) {
      depth += 1;
      marks += 1;
      if (depth > maxDepth) return `The JSON is nested deeper than ${maxDepth} levels.`;
    } else if (byte === closeList || byte === closeObject) depth -= 1;
    else if (byte === comma) marks += 1;
  }
  return marks > maxMarks ? 'The JSON has more than five million commas, lists and objects.' : undefined;
}

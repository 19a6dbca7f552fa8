/** Parses a JSON body and validates it. Threads load this file, so it imports little. */
import { createHash } from 'node:crypto';
import type { z } from 'zod';
import { addError, checkShape, createInputErrors, type InputErrors } from './input-errors.ts';
import { findExcess } from './json-scan.ts';
import { findLoneSurrogates } from './lone-surrogates.ts';

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

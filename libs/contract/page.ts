/** Pagination: `?limit=` and an opaque `?cursor=`, with the next page in a `Link` header (RFC 8288). */
import { z } from 'zod';
import type { Problem } from './problem.ts';
import { InvalidRequest } from './problems.ts';
import { queryInteger } from './shapes.ts';

/** The query parameters of every paginated list. */
export const page = {
  limit: queryInteger(1, 100).prefault(100).meta({ description: 'Page size, 1–100' }),
  cursor: z
    .string()
    .max(4096)
    .optional()
    .meta({ description: 'Position where the page starts, from the `Link` header of the previous page' }),
};

/** Encodes a position as the text of a cursor. The router seals the text before it sends the cursor. */
export function toCursor(position: readonly (string | number | null)[]): string {
  return JSON.stringify(position);
}

/** Creates the error for a cursor that cannot be used. */
export function invalidCursor(): Problem {
  return InvalidRequest(undefined, {
    extra: { errors: [{ path: 'query/cursor', message: 'This cursor does not belong to this list' }] },
  });
}

/**
 * Decodes the text of a cursor, which the router has opened, and validates the position with `shape`. Throws
 * `InvalidRequest` if it is invalid.
 */
export function parseCursor<T>(cursor: string | undefined, shape: z.ZodType<T>): T | undefined {
  if (cursor === undefined) return undefined;
  const parsed = shape.safeParse(parse(cursor));
  if (parsed.success) return parsed.data;
  throw invalidCursor();
}

function parse(cursor: string): unknown {
  try {
    return JSON.parse(cursor);
  } catch {
    return undefined;
  }
}

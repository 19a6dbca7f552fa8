/** Pagination: `?limit=` and an opaque `?cursor=`, with the next page in a `Link` header (RFC 8288). */
import { z } from 'zod';
import { InvalidRequest } from './problems.ts';

/** The query parameters of every paginated list. */
export const page = {
  limit: z.coerce.number().int().min(1).max(100).default(100).meta({ description: 'Page size, 1–100' }),
  cursor: z
    .string()
    .max(4096)
    .optional()
    .meta({ description: 'Position where the page starts, from the `Link` header of the previous page' }),
};

/** One page of rows. `next` is the cursor of the next page, if there is one. */
export interface Page<Row> {
  rows: Row[];
  next?: string;
}

/** Encodes a position as an opaque cursor: its values as base64url JSON. */
export function toCursor(position: readonly (string | number | null)[]): string {
  return Buffer.from(JSON.stringify(position)).toString('base64url');
}

/**
 * Decodes a cursor and validates the position with `shape`. Throws `InvalidRequest` if the cursor is invalid.
 */
export function parseCursor<T>(cursor: string | undefined, shape: z.ZodType<T>): T | undefined {
  if (cursor === undefined) return undefined;
  const parsed = shape.safeParse(parse(cursor));
  if (parsed.success) return parsed.data;
  throw InvalidRequest(undefined, {
    extra: { errors: [{ path: 'query/cursor', message: 'This cursor does not belong to this list' }] },
  });
}

function parse(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
}

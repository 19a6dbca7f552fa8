/** Pages of lists: `?limit=` and an opaque `?cursor=`, the next page in a `Link` header (RFC 8288). */
import { z } from 'zod';
import { InvalidRequest } from './problems.ts';

/** The query parameters of every list. */
export const page = {
  limit: z.coerce.number().int().min(1).max(100).default(100).meta({ description: 'Page size, 1–100' }),
  cursor: z
    .string()
    .max(4096)
    .optional()
    .meta({ description: 'Where the page starts, from the last answer’s Link' }),
};

/** One page of rows and, if there is more, the cursor of the next. */
export interface Page<Row> {
  rows: Row[];
  next?: string;
}

/** The opaque cursor of a position: its values as base64url JSON. */
export function toCursor(position: readonly (string | number | null)[]): string {
  return Buffer.from(JSON.stringify(position)).toString('base64url');
}

/** The position that a cursor stands for, checked by `shape`; a bad cursor is `InvalidRequest`. */
export function parseCursor<T>(cursor: string | undefined, shape: z.ZodType<T>): T | undefined {
  if (cursor === undefined) return undefined;
  const parsed = shape.safeParse(parse(cursor));
  if (parsed.success) return parsed.data;
  throw InvalidRequest(undefined, {
    extra: { errors: [{ path: 'query/cursor', message: 'This is no cursor of this list' }] },
  });
}

function parse(cursor: string): unknown {
  try {
    return JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
  } catch {
    return undefined;
  }
}

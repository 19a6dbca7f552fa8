/** Views: the read-only faces of owned collections, which other services may read and nothing else. */
import type { z } from 'zod';

/** A read-only face of a collection: a MongoDB view of just the fields that the schema names. */
export interface View<Row = unknown> {
  /** Name of the MongoDB view. */
  readonly name: string;
  /** The owned collection behind it. */
  readonly collection: string;
  readonly row: z.ZodType<Row> & { shape: Record<string, unknown> };
  /** The field that every reader must name, or null with the reason in `why`. */
  readonly scope: string | null;
  readonly unscopedReason?: string;
  /** Stages put before the projection, e.g. a join with another collection of the same owner. */
  readonly stages?: readonly Record<string, unknown>[];
}

/** Declares a view. Without a scope the reason must be given; throws when the scope is none of its fields. */
export function view<Row>(
  options: Omit<View<Row>, 'scope' | 'why'> & ({ scope: string } | { scope: null; unscopedReason: string }),
): View<Row> {
  if (options.scope !== null && !(options.scope in options.row.shape))
    throw new Error(`${options.name} does not have its scope ${options.scope}`);
  return options;
}

/** The row that a view gives. */
export type RowOf<V> = V extends View<infer Row> ? Row : never;

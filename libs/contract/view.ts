/** Views: read-only projections of owned collections, and the only data that other services may read. */
import type { z } from 'zod';

/** A read-only projection of a collection: a MongoDB view with only the fields of the schema. */
export interface View<Row = unknown> {
  /** Name of the MongoDB view. */
  readonly name: string;
  /** The owned collection that the view reads. */
  readonly collection: string;
  readonly row: z.ZodType<Row> & { shape: z.core.$ZodShape };
  /** The field that every query must filter by, or null with the reason in `unscopedReason`. */
  readonly scope: string | null;
  readonly unscopedReason?: string;
  /** Pipeline stages before the projection, e.g. a join with another collection of the same service. */
  readonly stages?: readonly Record<string, unknown>[];
  /** The encrypted fields, as their collection declares them. Services that read the view can decrypt them. */
  readonly sealed?: readonly { readonly path: string; context(row: never): string }[];
}

/** Declares a view. A view without a scope needs a reason. Throws if the scope is not one of its fields. */
export function view<Row>(
  options: Omit<View<Row>, 'scope' | 'unscopedReason'> &
    ({ scope: string } | { scope: null; unscopedReason: string }),
): View<Row> {
  if (options.scope !== null && !(options.scope in options.row.shape))
    throw new Error(`${options.name} has no field for its scope ${options.scope}`);
  return options;
}

/** The row type of a view. */
export type RowOf<V> = V extends View<infer Row> ? Row : never;

/** Invariants of the database: what must hold for its rows, and how rows that break it are found. */
import type { Scan, Stage } from './scan.ts';

/** An invariant. */
export interface Invariant {
  /** The collection and the field whose rows are counted, e.g. `nodes.parent_id`. */
  readonly name: string;
  /** What must hold, as one sentence. */
  readonly description: string;
  /**
   * Set if background work establishes it. Then only work counts that has been open for longer than the grace
   * period. All other invariants hold at every time, because they are kept by transactions.
   */
  readonly isEventual?: true;
  /** Set if it can be checked only with the encryption keys. */
  readonly needsKeys?: true;
  /** Finds the ids of the rows that break it. */
  find(scan: Scan): AsyncIterable<string>;
}

/** A collection, as the stores declare it. */
type Named = Readonly<{ name: string }>;

/** Declares an invariant of single rows: `stages` leave over the rows that break it. */
export function rowInvariant({
  collection,
  field,
  description,
  stages,
  batchSize,
}: {
  collection: Named;
  field: string;
  description: string;
  stages: readonly Stage[] | ((scan: Scan) => readonly Stage[]);
  /** Rows that are checked in one query; the default suits rows that each need a few lookups. */
  batchSize?: number;
}): Invariant {
  return {
    name: `${collection.name}.${field}`,
    description,
    find: (scan) =>
      scan.findIds(collection.name, typeof stages === 'function' ? stages(scan) : stages, batchSize),
  };
}

/** Declares that a field holds the id of a row of another collection. */
export function reference({
  collection,
  field,
  localField = field,
  target,
  description,
  when,
  inOrganization = false,
}: {
  collection: Named;
  field: string;
  /** The field with the id, if it is not the one in the name. */
  localField?: string;
  target: Named;
  description: string;
  /** Selects the rows that have a reference; the default is all rows. */
  when?: Stage;
  /** Whether both rows must have the same `organization_id`. */
  inOrganization?: boolean;
}): Invariant {
  const stages = [
    ...(when ? [{ $match: when }] : []),
    ...withoutMatch({ field: localField, target, inOrganization }),
  ];
  return rowInvariant({ collection, field, description, stages });
}

/** The stages that leave over the rows whose field is not the id of a row of `target`. */
export function withoutMatch({
  field,
  target,
  inOrganization = false,
  matching = {},
}: {
  field: string;
  target: Named;
  inOrganization?: boolean;
  /** What else must hold for the row of `target`. */
  matching?: Stage;
}): Stage[] {
  const sameOrganization = { $expr: { $eq: ['$organization_id', '$$organization_id'] } };
  const lookup = {
    ...{ from: target.name, localField: field, foreignField: '_id', as: 'found' },
    let: { organization_id: '$organization_id' },
    pipeline: [
      { $match: { ...matching, ...(inOrganization && sameOrganization) } },
      { $project: { _id: 1 } },
    ],
  };
  return [{ $lookup: lookup }, { $match: { found: [] } }];
}

/** The stages that join one row of `target` by its id as `found`, with these fields. */
export function joinById(target: Named, field: string, fields: readonly string[]): Stage[] {
  const lookup = {
    ...{ from: target.name, localField: field, foreignField: '_id', as: 'found' },
    pipeline: [{ $project: Object.fromEntries(fields.map((name) => [name, 1])) }],
  };
  return [{ $lookup: lookup }, { $set: { found: { $first: '$found' } } }];
}

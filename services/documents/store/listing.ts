/** Lists and counts documents in MongoDB, always within the organization of the caller. */
import type { mongo } from 'mongoose';
import type { Actor, Store } from '#libs/store';
import { queryTerms } from '../rules/words.ts';
import { type DocumentStatus, DocumentSummary, type ListSort } from '../shapes.ts';
import type { SummaryRow } from '../summaries.ts';
import { type DocumentRow, documents, reviewFields } from './collections.ts';
import { filterIndexes, sortIndexes } from './list-indexes.ts';
import type { Search } from './search.ts';

/** The part of a row that a list needs. The normalized title is only there if the list is sorted by it. */
export type ListedRow = SummaryRow & Pick<DocumentRow, 'normalized_title'>;

/** The fields to read of each row, besides the id. With all fields, decoding the rows would take a third longer. */
const summaryFields = [
  ...Object.keys(DocumentSummary.omit({ id: true, review: true }).shape),
  ...reviewFields,
];

/** Selects documents. `q` contains words; a document must contain all of them. */
export interface DocumentFilters {
  department?: string | undefined;
  editor_id?: string | undefined;
  created_by?: string | undefined;
  parent_doc_id?: string | undefined;
  updated_since?: Date | undefined;
  review_due_before?: Date | undefined;
  q?: string | undefined;
}

/** The value that a document is sorted by. */
export type SortKey = Date | string | null;

/** The first document of a page: the first one with this key, or, among equal keys, the one with this id. */
export interface PageStart {
  key: SortKey;
  id: string | null;
}

/** The page to read. */
export interface PageRequest {
  status: readonly DocumentStatus[];
  sort: ListSort;
  from: PageStart | undefined;
  limit: number;
}

/** The number of documents per status. */
export type Counts = Record<DocumentStatus, number>;

type RowFilter = mongo.Filter<DocumentRow>;

/** Lists and counts documents. */
export function listing(store: Store, search: Search) {
  const rows = store.collection(documents);

  return {
    /**
     * Reads a page of documents, each as its bytes. Documents with equal sort keys are sorted by id, in the same
     * direction.
     */
    async page(
      actor: Actor,
      filters: DocumentFilters,
      { status, sort, from, limit }: PageRequest,
    ): Promise<Uint8Array[]> {
      const { field } = parseSort(sort);
      const query = await createQuery(actor, filters, field);
      if (!query) return [];
      const projection = Object.fromEntries([...summaryFields, field].map((name) => [name, 1]));
      const found: unknown[] = [];
      for (const { where, sortBy } of createRanges(sort, from)) {
        const filter = { ...query.filter, status: { $in: [...status] }, ...(where && { $and: [where] }) };
        const range = { sort: sortBy, limit: limit - found.length };
        const options = { ...query.options, projection, ...range, raw: true };
        found.push(...(await rows.find(filter, options).toArray()));
        if (found.length === limit) break;
      }
      // with `raw`, the driver returns each row as bytes
      return found as Uint8Array[];
    },

    /** Counts the selected documents per status. Each count scans index keys only. */
    async count(actor: Actor, filters: DocumentFilters): Promise<Counts> {
      const query = await createQuery(actor, filters, 'updated_at');
      const count = async (status: DocumentStatus) =>
        query ? rows.countDocuments({ ...query.filter, status }, query.options) : 0;
      const [draft, published, archived] = await Promise.all([
        count('draft'),
        count('published'),
        count('archived'),
      ]);
      return { draft, published, archived };
    },
  };

  /** Returns the filter and the index hint for the selected documents; undefined if none can match. */
  async function createQuery(
    actor: Actor,
    { q, updated_since, review_due_before, ...equalities }: DocumentFilters,
    sortField: SortField,
  ): Promise<{ filter: RowFilter; options: { hint?: Index } } | undefined> {
    const filter: RowFilter = { organization_id: actor.organization_id };
    for (const [field, value] of Object.entries(equalities)) if (value !== undefined) filter[field] = value;
    if (updated_since) filter.updated_at = { $gte: updated_since };
    if (review_due_before) filter.review_due_at = { $lt: review_due_before };
    if (q === undefined && review_due_before) return { filter, options: chooseReviewHint(equalities) };
    if (q === undefined) return { filter, options: chooseHint(equalities, sortField) };
    const ids = await search.matches(actor, queryTerms(q));
    if (ids.length === 0) return undefined;
    // fetch the matches by id; otherwise MongoDB may scan the whole list for them
    return { filter: { ...filter, _id: { $in: ids } }, options: { hint: { _id: 1 } } };
  }
}

export type Listing = ReturnType<typeof listing>;

type Index = Readonly<Record<string, 1 | -1>>;
type SortField = keyof typeof sortIndexes;

/** The filters that compare a field with a value. */
type Equalities = Omit<DocumentFilters, 'q' | 'updated_since' | 'review_due_before'>;

/**
 * Chooses the index of a list of documents whose review is due. They are few, so sorting them costs less than reading
 * a list in its order. With other filters, MongoDB chooses the most selective index.
 */
function chooseReviewHint(equalities: Equalities): { hint?: Index } {
  const isOnly = Object.values(equalities).every((value) => value === undefined);
  return isOnly ? { hint: sortIndexes.review_due_at } : {};
}

/**
 * Chooses the index of a list, if one fits. Without a hint, MongoDB reuses a plan that was good for one
 * organization for all others. With several filters, MongoDB chooses the most selective index itself.
 */
function chooseHint(equalities: Equalities, sortField: SortField): { hint?: Index } {
  const [field, ...others] = Object.entries(equalities).flatMap(([name, value]) =>
    value === undefined ? [] : [name],
  );
  if (field === undefined) return { hint: sortIndexes[sortField] };
  // every filter field has an index in `filterIndexes`
  const index = filterIndexes[field as keyof typeof filterIndexes];
  return others.length === 0 && sortField === 'updated_at' ? { hint: index } : {};
}

const fields = {
  updated_at: 'updated_at',
  title: 'normalized_title',
  created_at: 'created_at',
  published_at: 'published_at',
  review_due_at: 'review_due_at',
} as const;

/** Returns the stored field and the direction of a sort. */
function parseSort(sort: ListSort) {
  const isDescending = sort.startsWith('-');
  // without its sign, a sort is one of the keys
  const field = fields[(isDescending ? sort.slice(1) : sort) as keyof typeof fields];
  return { field, isDescending, direction: isDescending ? (-1 as const) : (1 as const) };
}

/** Returns the value that a document is sorted by. */
export function getSortKey(row: ListedRow, sort: ListSort): SortKey {
  return row[parseSort(sort).field] ?? null;
}

/** A part of a sorted list that one index scan returns. */
interface IndexRange {
  where?: RowFilter;
  sortBy: Record<string, 1 | -1>;
}

/**
 * Returns the index ranges to read a page from, in order. If the page starts between two keys, one range is
 * enough. If it starts among equal keys, the first range holds the rest of these. A single query with `$or`
 * would make MongoDB sort all documents that follow. Absent values sort before all others.
 */
function createRanges(sort: ListSort, from: PageStart | undefined): IndexRange[] {
  const { field, isDescending, direction } = parseSort(sort);
  const sortBy = { [field]: direction, _id: direction };
  if (!from) return [{ sortBy }];
  const { key, id } = from;
  // sorted by a key that is equal in all rows, MongoDB would read all of them
  const withSameKey = (where: RowFilter): IndexRange => ({
    where: { [field]: key, ...where },
    sortBy: { _id: direction },
  });
  const sameKey = id === null ? undefined : withSameKey({ _id: isDescending ? { $lte: id } : { $gte: id } });
  if (key === null) {
    if (isDescending) return [sameKey ?? withSameKey({})];
    return sameKey ? [sameKey, { where: { [field]: { $ne: null } }, sortBy }] : [{ sortBy }];
  }
  // a plain $lte would omit absent values
  if (!sameKey)
    return [{ where: { [field]: isDescending ? { $not: { $gt: key } } : { $gte: key } }, sortBy }];
  return [sameKey, { where: { [field]: isDescending ? { $not: { $gte: key } } : { $gt: key } }, sortBy }];
}

/** Lists and counts of documents in MongoDB, always within the organization of who asks. */
import type { QueryFilter } from 'mongoose';
import type { Actor, Store } from '#libs/store';
import { queryTerms } from '../rules/words.ts';
import type { DocumentStatus, ListSort } from '../shapes.ts';
import { belonging, type DocumentRow, documents, sortedBy } from './collections.ts';
import type { Search } from './search.ts';

/** Which documents are meant; `q` are words that they all contain. */
export interface Filters {
  department?: string | undefined;
  editor_id?: string | undefined;
  created_by?: string | undefined;
  parent_doc_id?: string | undefined;
  updated_since?: Date | undefined;
  q?: string | undefined;
}

/** What documents are sorted by. */
export type SortKey = Date | string | null;

/** Where a page begins: with the first document of this key, or within those of the same key with this document. */
export interface Beginning {
  key: SortKey;
  id: string | null;
}

/** One page that is asked for. */
export interface Wanted {
  status: readonly DocumentStatus[];
  sort: ListSort;
  from: Beginning | undefined;
  limit: number;
}

/** How many documents there are in each state. */
export type Counts = Record<DocumentStatus, number>;

type Filter = QueryFilter<DocumentRow>;

/** Lists and counts documents. */
export function listing(store: Store, search: Search) {
  const rows = store.rows(documents);

  return {
    /** A page of documents; equal sort keys follow each other by id, in the direction of the sort. */
    async page(
      acting: Actor,
      filters: Filters,
      { status, sort, from, limit }: Wanted,
    ): Promise<DocumentRow[]> {
      const which = await meant(acting, filters, orderOf(sort).field);
      if (!which) return [];
      const found: DocumentRow[] = [];
      for (const { where, by } of stretches(sort, from)) {
        const query = { ...which.filter, status: { $in: [...status] }, ...(where && { $and: [where] }) };
        const more = rows.find(query, null, which.options).sort(by);
        found.push(...(await more.limit(limit - found.length).lean()));
        if (found.length === limit) break;
      }
      return found;
    },

    /** How many documents are meant, by state: each count walks the keys of an index. */
    async count(acting: Actor, filters: Filters): Promise<Counts> {
      const which = await meant(acting, filters, 'updated_at');
      const count = async (status: DocumentStatus) =>
        which ? rows.countDocuments({ ...which.filter, status }, which.options) : 0;
      const [draft, published, archived] = await Promise.all([
        count('draft'),
        count('published'),
        count('archived'),
      ]);
      return { draft, published, archived };
    },
  };

  /** The filter of the documents that are meant, and the index that serves it; nothing when no document can be. */
  async function meant(
    acting: Actor,
    { q, updated_since, ...same }: Filters,
    sortField: SortField,
  ): Promise<{ filter: Filter; options: { hint?: Index } } | undefined> {
    const filter: Filter = { organization_id: acting.organization_id };
    for (const [field, value] of Object.entries(same)) if (value !== undefined) filter[field] = value;
    if (updated_since) filter.updated_at = { $gte: updated_since };
    if (q === undefined) return { filter, options: hintFor(same, sortField) };
    const ids = await search.matches(acting, queryTerms(q));
    if (ids.length === 0) return undefined;
    // some rows by their ids, never the whole list in the hope of meeting them
    return { filter: { ...filter, _id: { $in: ids } }, options: { hint: { _id: 1 } } };
  }
}

export type Listing = ReturnType<typeof listing>;

type Index = Readonly<Record<string, 1 | -1>>;
type SortField = keyof typeof sortedBy;

/**
 * The index of a list where one fits: MongoDB keeps a plan that was right for one organization, and would use it for others.
 * Of several filters it finds out itself which one leaves the fewest documents.
 */
function hintFor(same: Omit<Filters, 'q' | 'updated_since'>, sortField: SortField): { hint?: Index } {
  const [one, ...more] = Object.entries(same).flatMap(([field, value]) =>
    value === undefined ? [] : [field],
  );
  if (one === undefined) return { hint: sortedBy[sortField] };
  // the filters are the fields that have such an index
  const index = belonging[one as keyof typeof belonging];
  return more.length === 0 && sortField === 'updated_at' ? { hint: index } : {};
}

const fields = {
  updated_at: 'updated_at',
  title: 'normalized_title',
  created_at: 'created_at',
  published_at: 'published_at',
} as const;

/** What a list is sorted by, and in which direction. */
function orderOf(sort: ListSort) {
  const isDown = sort.startsWith('-');
  // what is left of a sort without its sign is one of the keys
  const field = fields[(isDown ? sort.slice(1) : sort) as keyof typeof fields];
  return { field, isDown, direction: isDown ? (-1 as const) : (1 as const) };
}

/** What a document is sorted by. */
export function sortKeyOf(row: DocumentRow, sort: ListSort): SortKey {
  return row[orderOf(sort).field] ?? null;
}

/** A part of a sorted list that one walk along an index gives. */
interface Stretch {
  where?: Filter;
  by: Record<string, 1 | -1>;
}

/**
 * The stretches that a page is read from, in order. A page that begins between two keys is one range of the index; one that
 * begins among equal keys has the rest of these first. (One query for both, with `$or`, has MongoDB sort all that
 * follows.) Absent values are the smallest of all.
 */
function stretches(sort: ListSort, from: Beginning | undefined): Stretch[] {
  const { field, isDown, direction } = orderOf(sort);
  const by = { [field]: direction, _id: direction };
  if (!from) return [{ by }];
  const { key, id } = from;
  // told to sort by a key that all have, MongoDB reads them all
  const among = (where: Filter): Stretch => ({ where: { [field]: key, ...where }, by: { _id: direction } });
  const rest = id === null ? undefined : among({ _id: isDown ? { $lte: id } : { $gte: id } });
  if (key === null) {
    if (isDown) return [rest ?? among({})];
    return rest ? [rest, { where: { [field]: { $ne: null } }, by }] : [{ by }];
  }
  // a plain $lte would leave out the absent ones
  if (!rest) return [{ where: { [field]: isDown ? { $not: { $gt: key } } : { $gte: key } }, by }];
  return [rest, { where: { [field]: isDown ? { $not: { $gte: key } } : { $gt: key } }, by }];
}

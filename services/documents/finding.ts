/** Handles the operations that read: list documents, count them, get one. */
import { z } from 'zod';
import { json, parseCursor } from '#libs/contract';
import { handle, reply, toPage } from '#libs/http';
import { decodeRow } from '#libs/store';
import { countDocuments, getDocument, listDocuments } from './contract.ts';
import type { DocumentReply } from './document-reply.ts';
import type { ListSort } from './shapes.ts';
import { getSortKey, type ListedRow, type Listing, type PageStart } from './store/listing.ts';
import { summaryRenderer } from './summary-json.ts';

/** Handles the read operations. `/documents/counts` precedes `/documents/{doc_id}`, which would match it. */
export function queryHandlers({
  listing,
  documentReply,
}: {
  listing: Listing;
  documentReply: DocumentReply;
}) {
  const render = summaryRenderer();
  return [
    handle(listDocuments, async ({ actor, query }) => {
      const { cursor, limit, sort, status = ['draft', 'published'], ...filters } = query;
      const from = parsePageStart(cursor, sort);
      const found = await listing.page(actor, filters, { status, sort, from, limit: limit + 1 });
      const position = (last: Uint8Array, next: Uint8Array) =>
        toCursor(decodeRow<ListedRow>(last), decodeRow<ListedRow>(next), sort);
      const { value, next } = toPage({ found, limit, toItem: render, position });
      return reply(json(`[${value.join()}]`), { next });
    }),

    handle(countDocuments, async ({ actor, query }) => {
      const { draft, published, archived } = await listing.count(actor, query);
      return { draft, published, archived, total: draft + published + archived };
    }),

    handle(getDocument, ({ actor, params, call }) => documentReply.load(actor, params.doc_id, call)),
  ];
}

const time = z.iso.datetime().transform((text) => new Date(text));

/** Parses a cursor, or throws `InvalidRequest`, also for a cursor of a list with another sort order. */
function parsePageStart(cursor: string | undefined, sort: ListSort): PageStart | undefined {
  // most lists start at the beginning, and creating the schema below takes longer than using it
  if (cursor === undefined) return undefined;
  const key = sort.endsWith('title') ? z.string() : time;
  const position = parseCursor(cursor, z.tuple([z.literal(sort), key.nullable(), z.uuid().nullable()]));
  return position && { key: position[1], id: position[2] };
}

/**
 * Returns the cursor of the page that starts with `next`. It contains the id of `next` only if both rows have
 * the same sort key.
 */
function toCursor(last: ListedRow, next: ListedRow, sort: ListSort): (string | null)[] {
  const [before, key] = [last, next].map((row) => {
    const value = getSortKey(row, sort);
    return value instanceof Date ? value.toISOString() : value;
  });
  return [sort, key ?? null, before === key ? next._id : null];
}

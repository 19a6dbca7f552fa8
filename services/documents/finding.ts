/** Finding: reading one document, a page of them, their counts. */
import { z } from 'zod';
import { parseCursor } from '#libs/contract';
import { handle, toPage } from '#libs/http';
import { countDocuments, getDocument, listDocuments } from './contract.ts';
import type { DocumentReply } from './document-reply.ts';
import { toSummary } from './presenters.ts';
import type { ListSort } from './shapes.ts';
import type { DocumentRow } from './store/collections.ts';
import { type Beginning, type Listing, sortKeyOf } from './store/listing.ts';

/** The operations that read. `/documents/counts` comes before `/documents/{doc_id}`: else it would be taken for an id. */
export function finding({ listing, show }: { listing: Listing; show: DocumentReply }) {
  return [
    handle(listDocuments, async ({ actor, query }) => {
      const { cursor, limit, sort, status = ['draft', 'published'], ...filters } = query;
      const from = beginningOf(cursor, sort);
      const found = await listing.page(actor, filters, { status, sort, from, limit: limit + 1 });
      const position = (last: DocumentRow, next: DocumentRow) => cursorBetween(last, next, sort);
      return toPage({ found, limit, toItem: toSummary, position });
    }),

    handle(countDocuments, async ({ actor, query }) => {
      const { draft, published, archived } = await listing.count(actor, query);
      return { draft, published, archived, total: draft + published + archived };
    }),

    handle(getDocument, ({ actor, params }) => show.now(actor, params.doc_id)),
  ];
}

const time = z.iso.datetime().transform((text) => new Date(text));

/** Where a cursor of a list in this order begins; one of another order is `InvalidRequest`. */
function beginningOf(cursor: string | undefined, sort: ListSort): Beginning | undefined {
  const key = sort.endsWith('title') ? z.string() : time;
  const position = parseCursor(cursor, z.tuple([z.literal(sort), key.nullable(), z.uuid().nullable()]));
  return position && { key: position[1], id: position[2] };
}

/** The page after these two rows have parted: the second begins it, named by its id only where its key does not part them. */
function cursorBetween(last: DocumentRow, next: DocumentRow, sort: ListSort): (string | null)[] {
  const [before, key] = [last, next].map((row) => {
    const value = sortKeyOf(row, sort);
    return value instanceof Date ? value.toISOString() : value;
  });
  return [sort, key ?? null, before === key ? next._id : null];
}

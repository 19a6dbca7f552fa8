/** Finding: reading one document or a page of them. */
import { z } from 'zod';
import { positionOf } from '#libs/contract';
import { handle, pageOf } from '#libs/http';
import { getDocument, listDocuments } from './contract.ts';
import { summaryOf } from './presenting.ts';
import type { Show } from './showing.ts';
import type { DocumentRow } from './store/collections.ts';
import type { Library } from './store/library.ts';

const position = z.tuple([z.iso.datetime().transform((text) => new Date(text)), z.uuid()]);

/** The operations that read. */
export function finding({ library, show }: { library: Library; show: Show }) {
  return [
    handle(getDocument, ({ actor, params }) => show.now(actor, params.doc_id)),

    handle(listDocuments, async ({ actor, query }) => {
      const [updated_at, _id] = positionOf(query.cursor, position) ?? [];
      const after = updated_at && _id ? { updated_at, _id } : undefined;
      const found = await library.list(actor, { status: query.status?.[0], after, limit: query.limit + 1 });
      const place = (row: DocumentRow) => [row.updated_at.toISOString(), row._id];
      return pageOf({ found, limit: query.limit, show: summaryOf, position: place });
    }),
  ];
}

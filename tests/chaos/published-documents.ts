/** Inserts published documents into the database, with all rows that publishing them through the API creates. */
import { type Envelope, newId } from '#libs/contract';
import { createDocument, type HttpClient } from '#libs/testing';
import { DocumentPublished } from '../../services/documents/events.ts';
import { toSummary } from '../../services/documents/presenters.ts';
import type { DocumentRow, SearchRow } from '../../services/documents/store/collections.ts';
import type { System } from './system.ts';

/** Options of `insertPublishedDocuments`. */
interface InsertOptions {
  count: number;
  /** When they were published. */
  at: Date;
  /** Whether the events wait in the outbox or were published. */
  outbox: { pending: true; lease_until: Date } | { published_at: Date };
  /** The title in the events. */
  title?: string;
}

/** The event of an inserted document. */
type InsertedEvent = Envelope & { data: { document: { id: string } } };

/**
 * Inserts published documents of the API key's organization, each with its ledger row, its words and its event.
 * Returns the events.
 */
export async function insertPublishedDocuments(
  system: HttpClient & Pick<System, 'db'>,
  key: string,
  { count, at, outbox, title = 'SOP' }: InsertOptions,
): Promise<InsertedEvent[]> {
  const { id: draftId } = await createDocument(system, key);
  const draft = await system.db.collection<DocumentRow>('documents').findOne({ _id: draftId });
  if (!draft) throw new Error('The created document is not in the database');
  const { organization_id } = draft;
  const rows = Array.from({ length: count }, (): DocumentRow => {
    const _id = newId();
    const changed = { published_at: at, updated_at: at, reindex_at: null };
    return { ...draft, _id, family_id: _id, status: 'published', ...changed };
  });
  const events = rows.map((row): InsertedEvent => {
    const data = { document: { ...toSummary(row), title } };
    const about = { occurred_at: at.toISOString(), organization_id, actor_id: draft.created_by };
    return { id: newId(), type: DocumentPublished.name, ...about, data };
  });
  await system.db.collection<DocumentRow>('documents').insertMany(rows);
  await system.db
    .collection<SearchRow>('search')
    .insertMany(rows.map(({ _id, row_version }) => ({ _id, organization_id, words: ['sop'], row_version })));
  await system.db.collection<{ _id: string }>('publish_ledger').insertMany(
    rows.map(({ _id: document_id }) => {
      const month = at.toISOString().slice(0, 7);
      return { _id: newId(), organization_id, document_id, month, published_at: at };
    }),
  );
  await system.db.collection<{ _id: string }>('documents_outbox').insertMany(
    events.map((event) => {
      const about = { _id: event.id, type: event.type, event: JSON.stringify(event) };
      return { ...about, created_at: at, failures: 0, ...outbox };
    }),
  );
  return events;
}

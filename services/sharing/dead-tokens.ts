/** Deletes share tokens and closes requests that can never work again, some time after they have stopped working. */
import type { Envelope } from '#libs/contract';
import { on, type Subscriber } from '#libs/events';
import type { Store } from '#libs/store';
import { DocumentArchived, DocumentDeleted } from '../documents/events.ts';
import { closeEnded, type EndedRequestDeps } from './acknowledgements/closing.ts';
import type { SharingStore } from './store/share-tokens.ts';

/** Dependencies of the subscribers. */
export interface DeadTokenOptions extends EndedRequestDeps {
  store: Pick<Store, 'processOnce'>;
  sharing: Pick<SharingStore, 'document' | 'deleteDead'>;
}

/**
 * The subscribers of the sharing service. An event only names the document to check: it may arrive late,
 * twice, or again on request, when the family has been published and shared again. The family's current
 * epoch, which never decreases, decides which token is deleted, and which request is closed.
 */
export function deleteDeadTokens({ store, sharing, requests, documents }: DeadTokenOptions): Subscriber[] {
  return [
    on(DocumentArchived, (event) => deleteIfDead(event.data.document.id, event)),
    on(DocumentDeleted, async (event) => {
      // without a parent the draft was the only document of its family, so nothing was published or shared
      const { parent_doc_id } = event.data.document;
      if (parent_doc_id !== null) await deleteIfDead(parent_doc_id, event);
    }),
  ];

  function deleteIfDead(documentId: string, event: Envelope): Promise<unknown> {
    const { organization_id } = event;
    return store.processOnce(event, async (tx) => {
      const document = await sharing.document(organization_id, documentId);
      if (!document) return;
      const actor = { organization_id, user_id: null, tx };
      await sharing.deleteDead(actor, document);
      await closeEnded(
        { requests, documents },
        actor,
        document,
        document.archived_at ?? new Date(event.occurred_at),
      );
    });
  }
}

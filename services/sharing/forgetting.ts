/** Forgetting: tokens that can never open anything again are deleted, some time after their links have stopped. */
import type { Envelope } from '#libs/contract';
import { on, type Subscriber } from '#libs/events';
import type { Store } from '#libs/store';
import { DocumentArchived, DocumentDeleted } from '../documents/events.ts';
import type { SharingStore } from './store.ts';

/** What forgetting needs. */
export interface Forgetting {
  store: Pick<Store, 'processOnce'>;
  sharing: Pick<SharingStore, 'document' | 'deleteDead'>;
}

/**
 * What sharing hears. An event says only where to look: it may come late, twice or again on request, when the family has been
 * published and shared anew. What is forgotten is decided by the family's epoch, which never falls.
 */
export function deleteDeadTokens({ store, sharing }: Forgetting): Subscriber[] {
  return [
    on(DocumentArchived, (event) => forgetFamilyOf(event.data.document.id, event)),
    on(DocumentDeleted, async (event) => {
      // a draft that is no revision was never published, and nothing of its family was: it never had a token
      const { parent_doc_id } = event.data.document;
      if (parent_doc_id !== null) await forgetFamilyOf(parent_doc_id, event);
    }),
  ];

  function forgetFamilyOf(documentId: string, event: Envelope): Promise<unknown> {
    const { organization_id } = event;
    return store.processOnce(event, async (tx) => {
      const document = await sharing.document(organization_id, documentId);
      if (document) await sharing.deleteDead({ organization_id, user_id: null, tx }, document);
    });
  }
}

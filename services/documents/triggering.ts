/** Publishes an event of a document again for webhooks, without changing the document. */
import { handle } from '#libs/http';
import type { Store } from '#libs/store';
import { webhookSubscriptions } from '../webhook-delivery/views.ts';
import { DocumentArchived, DocumentPublished, DocumentRevised, triggerWebhooks } from './contract.ts';
import { toSummary } from './presenters.ts';
import type { DocumentRepository } from './store/document-repository.ts';

const events = {
  'document.published': DocumentPublished,
  'document.revised': DocumentRevised,
  'document.archived': DocumentArchived,
};

/** Handles `triggerWebhooks`. */
export function triggerHandlers({ store, repository }: { store: Store; repository: DocumentRepository }) {
  const subscriptions = store.read(webhookSubscriptions);

  return [
    handle(
      triggerWebhooks,
      async ({ actor, params: { doc_id }, body: { event_type }, call: { ifMatch }, authorize }) => {
        const filter = { is_active: true, event_types: event_type };
        return store.respond(actor, async (within, tx) => {
          const document = await repository.get(within, doc_id, { authorize, ifMatch });
          // webhooks stay configured after a downgrade, but only the plan Scale may use them
          const isSubscribed =
            (await actor.plan()) === 'scale' &&
            (await subscriptions.in(actor.organization_id).one(filter)) !== undefined;
          if (isSubscribed) tx.publish(events[event_type], { document: toSummary(document), refired: true });
          return { dispatched: isSubscribed };
        });
      },
      {
        authorizeReplay: ({ actor, params, authorize }) =>
          repository.get(actor, params.doc_id, { authorize }),
      },
    ),
  ];
}

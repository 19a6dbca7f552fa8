/** Publishes an event of a document again for webhooks, without changing the document. */
import { handle } from '#libs/http';
import type { Store } from '#libs/store';
import { liveWebhookListeners, webhookSubscriptions } from '../webhook-delivery/views.ts';
import { DocumentArchived, DocumentPublished, DocumentRevised, triggerWebhooks } from './contract.ts';
import { toSummary } from './presenters.ts';
import type { DocumentRepository } from './store/document-repository.ts';

const events = {
  'document.published': DocumentPublished,
  'document.revised': DocumentRevised,
  'document.archived': DocumentArchived,
};

/** Handles `triggerWebhooks`. */
export function triggerHandlers({
  store,
  repository,
  now,
}: {
  store: Store;
  repository: DocumentRepository;
  now: () => Date;
}) {
  const subscriptions = store.read(webhookSubscriptions);
  const listeners = store.read(liveWebhookListeners);

  return [
    handle(
      triggerWebhooks,
      async ({ actor, params: { doc_id }, body: { event_type }, call: { ifMatch }, authorize }) => {
        return store.respond(actor, async (within, tx) => {
          const document = await repository.get(within, doc_id, { authorize, ifMatch });
          // webhooks stay configured after a downgrade, but only the plan Scale may use them
          const isSubscribed =
            (await actor.plan()) === 'scale' && (await hasSubscriber(actor.organization_id, event_type));
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

  async function hasSubscriber(organizationId: string, eventType: string): Promise<boolean> {
    const webhook = { is_active: true, event_types: eventType };
    return (
      (await subscriptions.in(organizationId).one(webhook)) !== undefined ||
      (await listeners.in(organizationId).one({ expires_at: { $gt: now() } })) !== undefined
    );
  }
}

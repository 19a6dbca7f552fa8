/** Triggering: an event of a document is fired again for webhooks, without changing the document. */
import { handle } from '#libs/http';
import type { Store } from '#libs/store';
import { webhookSubscriptions } from '../webhook-delivery/views.ts';
import { DocumentArchived, DocumentPublished, DocumentRevised, triggerWebhooks } from './contract.ts';
import { requireManager } from './editing.ts';
import { toSummary } from './presenters.ts';
import type { DocumentRepository } from './store/document-repository.ts';

const events = {
  'document.published': DocumentPublished,
  'document.revised': DocumentRevised,
  'document.archived': DocumentArchived,
};

/** The operation that fires again. */
export function triggering({ store, library }: { store: Store; library: DocumentRepository }) {
  const subscriptions = store.read(webhookSubscriptions);

  return [
    handle(
      triggerWebhooks,
      async ({ actor, params, body, call }) => {
        const { event_type } = body;
        const conditions = {
          authorize: requireManager(actor, 'trigger webhooks for'),
          ifMatch: call.ifMatch,
        };
        const wanted = { is_active: true, event_types: event_type };
        return store.respond(actor, async (_, tx) => {
          const document = await library.findAuthorized(actor, params.doc_id, conditions, tx);
          // webhooks of a lapsed plan stay, and are skipped
          const isHeard =
            (await actor.plan()) === 'scale' &&
            (await subscriptions.in(actor.organization_id).one(wanted)) !== undefined;
          if (isHeard) tx.publish(events[event_type], { document: toSummary(document), refired: true });
          return { dispatched: isHeard };
        });
      },
      {
        authorizeReplay: ({ actor, params }) =>
          library.check(actor, params.doc_id, requireManager(actor, 'trigger webhooks for')),
      },
    ),
  ];
}

/** Publishes what follows from new versions and acknowledgements: new requests to read, and completed requests. */
import type { Envelope } from '#libs/contract';
import { on, type Subscriber } from '#libs/events';
import type { Actor, Store, Transaction } from '#libs/store';
import { DocumentRevised } from '../../documents/events.ts';
import { AcknowledgementCompleted, AcknowledgementMade, AcknowledgementRequested } from '../events.ts';
import { getBaseline, getDueAt, isAcknowledged } from '../rules/acknowledgement.ts';
import type { MemberReader } from '../store/acknowledgement-members.ts';
import type { ReaderStore } from '../store/acknowledgement-readers.ts';
import type { OpenRequest, RequestStore } from '../store/acknowledgement-requests.ts';
import type { DocumentReader } from '../store/documents.ts';
import { refreshDepartmentNames } from './department-names.ts';
import { toRequest } from './presenters.ts';

/** The dependencies of the subscribers. */
export interface AnnouncingDeps {
  store: Pick<Store, 'processOnce'>;
  documents: DocumentReader;
  requests: RequestStore;
  readers: ReaderStore;
  members: MemberReader;
}

/**
 * The subscribers. An event only names the document: it may arrive late, twice or again on request. What is published
 * depends on the current state, and each only once for a baseline.
 */
export function announceAcknowledgements(deps: AnnouncingDeps): Subscriber[] {
  const { store, documents, requests } = deps;
  return [
    on(DocumentRevised, (event) =>
      processOpen(event, event.data.document.id, async (actor, { request, published }) => {
        const { id } = getBaseline(published);
        if (request.requested_baseline_id === id) return;
        const overdue_at = getDueAt(request, published);
        await requests.update(actor, request, { requested_baseline_id: id, overdue_at });
        const document = await documents.getSummary(actor, published._id);
        const data = { request: toRequest(request, published), document };
        actor.tx.publish(AcknowledgementRequested, data, {
          organization_version: request.departments_version ?? 0,
        });
      }),
    ),

    on(AcknowledgementMade, (event) =>
      processOpen(event, event.data.acknowledgement.document_id, async (actor, open) => {
        const { request, published } = open;
        // counts only for its own request, which may have been closed
        if (request._id !== event.data.acknowledgement.request_id) return;
        const { id } = getBaseline(published);
        if (request.completed_baseline_id === id || (await hasPending(deps, actor, open))) return;
        await requests.update(actor, request, { completed_baseline_id: id });
        const document = await documents.getSummary(actor, published._id);
        actor.tx.publish(AcknowledgementCompleted, { request: toRequest(request, published), document });
      }),
    ),
  ];

  /** Runs work with the open request about a document, if there is one, once for each event. */
  function processOpen(
    event: Envelope,
    documentId: string,
    work: (actor: Actor & { tx: Transaction }, open: OpenRequest) => Promise<void>,
  ): Promise<unknown> {
    return store.processOnce(event, async (tx) => {
      const actor = { organization_id: event.organization_id, user_id: null, tx };
      const document = await documents.find(actor, documentId);
      const open = document && (await requests.findOpen(actor, document.family_id));
      if (open) await work(actor, await refreshDepartmentNames(deps, actor, open));
    });
  }
}

/** Whether somebody whom a request asks has not acknowledged the published version. */
export async function hasPending(
  { readers, members }: Pick<AnnouncingDeps, 'readers' | 'members'>,
  actor: Actor,
  { request, published }: OpenRequest,
): Promise<boolean> {
  if (await readers.hasPending(actor, request._id, published)) return true;
  for await (const batch of members.list(actor, request, published))
    for (const { acknowledgement } of batch) {
      const acknowledged = acknowledgement && { baselineId: acknowledgement.baseline_id };
      if (!isAcknowledged(acknowledged, published)) return true;
    }
  return false;
}

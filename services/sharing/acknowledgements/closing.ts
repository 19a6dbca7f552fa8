/** Closes the rows of requests, also of those that have ended because their document was archived: see `isOpen`. */
import type { Actor, Transaction } from '#libs/store';
import { AcknowledgementRequestClosed } from '../events.ts';
import type { RequestRow } from '../store/acknowledgement-collections.ts';
import type { RequestStore } from '../store/acknowledgement-requests.ts';
import type { DocumentState } from '../store/documents.ts';
import { type DepartmentNameDeps, resolveDepartmentNames } from './department-names.ts';
import { toRequest } from './presenters.ts';
import type { AcknowledgementRequest } from './shapes.ts';

/** The dependencies of `closeEnded`. */
export interface EndedRequestDeps extends Pick<DepartmentNameDeps, 'documents'> {
  requests: Pick<RequestStore, 'findEnded' | 'update'>;
}

/** Closes the ended request of a document's family, if there is one, and publishes that it is closed. */
export async function closeEnded(
  { requests, documents }: EndedRequestDeps,
  actor: Actor & { tx: Transaction },
  document: DocumentState,
  at: Date,
): Promise<void> {
  const ended = await requests.findEnded(actor, document);
  if (!ended) return;
  const [current = ended] = await resolveDepartmentNames(documents, actor, [ended]);
  await closeRequest({ requests }, actor, { request: current, version: document }, at);
}

/** Closes a request, publishes that and returns it. It must have the current names of its departments. */
export async function closeRequest(
  { requests }: { requests: Pick<RequestStore, 'update'> },
  actor: Actor & { tx: Transaction },
  { request, version }: { request: RequestRow; version: DocumentState },
  at: Date,
): Promise<AcknowledgementRequest> {
  const closed = { status: 'closed' as const, closed_at: at };
  // a closed request no longer follows renames
  const { audience, departments_version } = request;
  await requests.update(actor, request, { ...closed, audience, departments_version, overdue_at: undefined });
  const result = toRequest({ ...request, ...closed }, version);
  actor.tx.publish(AcknowledgementRequestClosed, { request: result });
  return result;
}

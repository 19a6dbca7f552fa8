/** Closes the row of a request whose document was archived. The request has ended already: see `isOpen`. */
import type { Actor, Transaction } from '#libs/store';
import { AcknowledgementRequestClosed } from '../events.ts';
import type { RequestStore } from '../store/acknowledgement-requests.ts';
import type { DocumentState } from '../store/documents.ts';
import { type DepartmentNameDeps, resolveDepartmentNames } from './department-names.ts';
import { toRequest } from './presenters.ts';

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
  const closed = { status: 'closed' as const, closed_at: at };
  // a closed request no longer follows renames
  const [current = ended] = await resolveDepartmentNames(documents, actor, [ended]);
  const { audience, departments_version } = current;
  await requests.update(actor, ended, { ...closed, audience, departments_version, overdue_at: undefined });
  actor.tx.publish(AcknowledgementRequestClosed, { request: toRequest({ ...current, ...closed }, document) });
}

/** Closes the row of a request whose document was archived. The request has ended already: see `isOpen`. */
import type { Actor, Transaction } from '#libs/store';
import { AcknowledgementRequestClosed } from '../events.ts';
import type { RequestStore } from '../store/acknowledgement-requests.ts';
import type { DocumentState } from '../store/documents.ts';
import { toRequest } from './presenters.ts';

/** Closes the ended request of a document's family, if there is one, and publishes that it is closed. */
export async function closeEnded(
  { requests }: { requests: Pick<RequestStore, 'findEnded' | 'update'> },
  actor: Actor & { tx: Transaction },
  document: DocumentState,
  at: Date,
): Promise<void> {
  const ended = await requests.findEnded(actor, document);
  if (!ended) return;
  const closed = { status: 'closed' as const, closed_at: at };
  await requests.update(actor, ended, { ...closed, overdue_at: undefined });
  actor.tx.publish(AcknowledgementRequestClosed, { request: toRequest({ ...ended, ...closed }, document) });
}

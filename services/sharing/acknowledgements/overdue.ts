/** Publishes `acknowledgement.overdue` when the due date of a request passes, with a worker in every replica. */
import { every, type Worker } from '#libs/service';
import type { Store } from '#libs/store';
import { AcknowledgementOverdue } from '../events.ts';
import { getBaseline, getDueAt } from '../rules/acknowledgement.ts';
import type { MemberReader } from '../store/acknowledgement-members.ts';
import type { ReaderStore } from '../store/acknowledgement-readers.ts';
import type { DueRequest, RequestStore } from '../store/acknowledgement-requests.ts';
import type { DocumentReader } from '../store/documents.ts';
import { hasPending } from './announcing.ts';
import { refreshDepartmentNames } from './department-names.ts';
import { toRequest } from './presenters.ts';

const pollMs = 5_000;
const batchSize = 20;

/** The dependencies of the worker. */
export interface OverdueDeps {
  store: Pick<Store, 'transact'>;
  documents: DocumentReader;
  requests: RequestStore;
  readers: ReaderStore;
  members: MemberReader;
  now: () => Date;
  onError(message: string, error: unknown): void;
}

/** Creates the worker that checks requests whose due date has passed. */
export function overdueWorker(deps: OverdueDeps): Worker {
  return every(pollMs, checkAll, (error) => deps.onError('Could not find overdue requests', error));

  async function checkAll(isStopped: () => boolean): Promise<void> {
    for (let hasMore = true; hasMore && !isStopped(); ) {
      const due = await deps.requests.findDue(deps.now(), batchSize);
      let failed = 0;
      for (const request of due) if (!isStopped() && !(await tryCheck(request))) failed += 1;
      // failed checks stay due and are repeated at the next poll
      hasMore = due.length === batchSize && failed === 0;
    }
  }

  /** Returns true on success. A failure is logged and does not stop the other checks. */
  async function tryCheck(request: DueRequest): Promise<boolean> {
    try {
      await checkOverdue(deps, request);
      return true;
    } catch (error) {
      deps.onError(`Could not check whether the request ${request._id} is overdue`, error);
      return false;
    }
  }
}

/**
 * Checks one request. One transaction removes the time of the check and, if somebody has not acknowledged, publishes
 * the event: only one replica does. If a later baseline was published, the check moves to its due date.
 */
export function checkOverdue(deps: Omit<OverdueDeps, 'onError'>, due: DueRequest): Promise<void> {
  const { store, documents, requests, now } = deps;
  const system = { organization_id: due.organization_id, user_id: null };
  return store.transact(system, async (tx) => {
    const actor = { ...system, tx };
    const found = await requests.find(actor, due._id);
    // another replica was faster, or the due date changed
    if (Number(found?.request.overdue_at) !== Number(due.overdue_at)) return;
    const open = found && (await requests.findOpen(actor, found.request.family_id));
    if (open?.request._id !== due._id) return requests.update(actor, due, { overdue_at: undefined });
    const { request, published } = await refreshDepartmentNames(deps, actor, open);
    const overdue_at = getDueAt(request, published);
    if (overdue_at >= now()) return requests.update(actor, request, { overdue_at });
    const { id } = getBaseline(published);
    await requests.update(actor, request, { overdue_at: undefined });
    if (request.overdue_baseline_id === id || !(await hasPending(deps, actor, { request, published })))
      return;
    await requests.update(actor, request, { overdue_baseline_id: id });
    const document = await documents.getSummary(actor, published._id);
    tx.publish(AcknowledgementOverdue, { request: toRequest(request, published), document });
  });
}

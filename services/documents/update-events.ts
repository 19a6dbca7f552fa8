/** Publishes `document.updated` after changes of published documents, with a worker in every replica. */
import { every, type Worker } from '#libs/service';
import type { Store } from '#libs/store';
import { DocumentUpdated } from './events.ts';
import { toSummary } from './presenters.ts';
import type { DueUpdate, DueUpdates } from './store/update-events.ts';

const pollMs = 1_000;
const batchSize = 10;

/** The dependencies of `updateEventWorker`. */
export interface UpdateEventDeps {
  store: Pick<Store, 'transact' | 'withLock'>;
  dueUpdates: DueUpdates;
  onError(message: string, error: unknown): void;
}

/** Creates the worker that publishes due `document.updated` events. */
export function updateEventWorker({ store, dueUpdates, onError }: UpdateEventDeps): Worker {
  let isStopped = false;
  const worker = every(pollMs, publishDue, (error) => onError('Could not find due update events', error));
  return {
    start: () => worker.start(),
    async stop() {
      isStopped = true;
      await worker.stop();
    },
  };

  async function publishDue(): Promise<void> {
    for (let hasMore = true; hasMore && !isStopped; ) {
      const due = await dueUpdates.find(batchSize);
      const results = await Promise.all(due.map(tryPublish));
      // failed events stay due and are retried at the next poll
      hasMore = due.length === batchSize && results.every((isDone) => isDone);
    }
  }

  /** Returns true on success. A failure is logged and does not stop the other events. */
  async function tryPublish(due: DueUpdate): Promise<boolean> {
    try {
      await publishUpdate({ store, dueUpdates }, due);
      return true;
    } catch (error) {
      onError(`Could not publish the update event of document ${due._id}`, error);
      return false;
    }
  }
}

/**
 * Publishes the event of one document with its current summary. One transaction publishes the event and
 * removes its due time, so a crash loses no event and only one replica publishes it. A document that was
 * archived in the meantime gets no event.
 */
export function publishUpdate(
  { store, dueUpdates }: Pick<UpdateEventDeps, 'store' | 'dueUpdates'>,
  due: DueUpdate,
): Promise<void> {
  const system = { organization_id: due.organization_id, user_id: null };
  return store.withLock(due._id, () =>
    store.transact(system, async (tx) => {
      const document = await dueUpdates.take(due, tx);
      if (document?.status === 'published') tx.publish(DocumentUpdated, { document: toSummary(document) });
    }),
  );
}

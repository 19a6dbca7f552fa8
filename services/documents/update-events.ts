/** Publishes `document.updated` after changes of published documents, with a worker in every replica. */
import type { Worker } from '#libs/service';
import type { Store } from '#libs/store';
import { dueEventWorker } from './due-event-worker.ts';
import { DocumentUpdated } from './events.ts';
import { toSummary } from './presenters.ts';
import { createDueUpdates, type DueUpdate, type DueUpdates } from './store/update-events.ts';

/** The dependencies of `updateEventWorker`. */
export interface UpdateEventDeps {
  store: Store;
  now: () => Date;
  onError(message: string, error: unknown): void;
}

/** Creates the worker that publishes due `document.updated` events. */
export function updateEventWorker({ store, now, onError }: UpdateEventDeps): Worker {
  const dueUpdates = createDueUpdates(store, now);
  return dueEventWorker({
    name: 'update',
    find: dueUpdates.find,
    publish: (due) => publishUpdate({ store, dueUpdates }, due),
    onError,
  });
}

/**
 * Publishes the event of one document with its current summary. One transaction publishes the event and
 * removes its due time, so a crash loses no event and only one replica publishes it. A document that was
 * archived in the meantime gets no event.
 */
export function publishUpdate(
  { store, dueUpdates }: { store: Pick<Store, 'transact' | 'withLock'>; dueUpdates: DueUpdates },
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

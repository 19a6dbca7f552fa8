/** Creates workers that publish events whose time has come. One runs in every replica. */
import { every, type Worker } from '#libs/service';

const pollMs = 1_000;
const batchSize = 10;

/** What a worker publishes. */
export interface DueEvents<Due> {
  /** Returns at most `limit` documents whose event is due. */
  find(limit: number): Promise<readonly Due[]>;
  /** Publishes the event of a document, unless another replica has. */
  publish(due: Due): Promise<unknown>;
  onError(message: string, error: unknown): void;
  /** The name of the events in log lines. */
  name: string;
}

/** Creates the worker. Failed events stay due; the next poll retries them. */
export function dueEventWorker<Due extends { _id: string }>(events: DueEvents<Due>): Worker {
  const { find, publish, onError, name } = events;
  return every(pollMs, publishDue, (error) => onError(`Could not find due ${name} events`, error));

  async function publishDue(isStopped: () => boolean): Promise<void> {
    for (let hasMore = true; hasMore && !isStopped(); ) {
      const due = await find(batchSize);
      const results = await Promise.all(due.map(tryPublish));
      hasMore = due.length === batchSize && results.every((isDone) => isDone);
    }
  }

  /** Returns true on success. A failure is logged and does not stop the other events. */
  async function tryPublish(due: Due): Promise<boolean> {
    try {
      await publish(due);
      return true;
    } catch (error) {
      onError(`Could not publish the ${name} event of document ${due._id}`, error);
      return false;
    }
  }
}

/**
 * A bulkhead limits expensive work: a maximum of concurrent runs and a bounded queue. Further work is
 * rejected.
 */

/** Runs work when a slot is free. Aborting `signal` cancels the wait for a slot, not the work. */
export type Bulkhead = <R>(work: () => Promise<R>, signal?: AbortSignal) => Promise<R>;

/**
 * Creates a bulkhead that runs work in order of arrival. If `maxQueue` callers already wait, it rejects with
 * the error from `createError`.
 */
export function bulkhead({
  maxConcurrent,
  maxQueue,
  createError,
}: {
  maxConcurrent: number;
  maxQueue: number;
  createError: () => Error;
}): Bulkhead {
  /** Waiting callers, in order of arrival. */
  const queue = new Set<() => void>();
  let running = 0;

  return async (work, signal) => {
    if (running < maxConcurrent) running += 1;
    else if (queue.size < maxQueue) await waitForSlot(signal);
    else throw createError();
    try {
      return await work();
    } finally {
      // the next caller takes over this slot
      const [next] = queue;
      if (next) next();
      else running -= 1;
    }
  };

  function waitForSlot(signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    return new Promise((resolve, reject) => {
      const proceed = () => {
        settle();
        resolve();
      };
      const cancel = () => {
        settle();
        reject(signal?.reason);
      };
      const settle = () => {
        queue.delete(proceed);
        signal?.removeEventListener('abort', cancel);
      };
      queue.add(proceed);
      signal?.addEventListener('abort', cancel);
    });
  }
}

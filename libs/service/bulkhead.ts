/**
 * A bulkhead keeps work that takes much from taking everything: so much at once, so much waiting, and the
 * rest is refused.
 */

/** Does work when its turn comes. `signal` ends the waiting, not the work. */
export type Bulkhead = <R>(work: () => Promise<R>, signal?: AbortSignal) => Promise<R>;

/**
 * Does work in the order in which it comes; whoever finds too many waiting gets the error that `full` makes.
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
  /** In the order in which they came. */
  const queue = new Set<() => void>();
  let running = 0;

  return async (work, signal) => {
    if (running < maxConcurrent) running += 1;
    else if (queue.size < maxQueue) await waitForSlot(signal);
    else throw createError();
    try {
      return await work();
    } finally {
      // whoever is next takes over this place
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

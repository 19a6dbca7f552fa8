/**
 * A bulkhead limits expensive work: a maximum of concurrent runs and a bounded queue. Further work is
 * rejected.
 */

/**
 * Runs work when a slot is free. Clients take turns: `client` says whose work it is. Aborting `signal` cancels the wait
 * for a slot, not the work.
 */
export type Bulkhead = <R>(work: () => Promise<R>, signal?: AbortSignal, client?: string) => Promise<R>;

/**
 * Creates a bulkhead that runs the work of a client in order of arrival. If `maxQueue` callers already wait, or
 * `maxQueuePerClient` of the same client (default: all), it rejects with the error from `createError`.
 */
export function bulkhead({
  maxConcurrent,
  maxQueue,
  maxQueuePerClient = maxQueue,
  createError,
}: {
  maxConcurrent: number;
  maxQueue: number;
  maxQueuePerClient?: number;
  createError: () => Error;
}): Bulkhead {
  /** Waiting callers of each client, in order of arrival. The first client has waited longest for its turn. */
  const queues = new Map<string, Set<() => void>>();
  let waiting = 0;
  let running = 0;
  /** The client whose work was started last. */
  let latest: string | undefined;

  return async (work, signal, client = '') => {
    if (running < maxConcurrent) {
      running += 1;
      latest = client;
    } else if (waiting < maxQueue && (queues.get(client)?.size ?? 0) < maxQueuePerClient)
      await waitForSlot(client, signal);
    else throw createError();
    try {
      return await work();
    } finally {
      startNext();
    }
  };

  /** Passes the slot to the next caller: of another client than before, if one waits. */
  function startNext(): void {
    const clients = [...queues.keys()];
    const client = clients.find((each) => each !== latest) ?? clients[0];
    const queue = client !== undefined && queues.get(client);
    if (!queue) {
      running -= 1;
      return;
    }
    // the other callers of this client wait until all clients had their turn
    queues.delete(client);
    queues.set(client, queue);
    latest = client;
    const [proceed] = queue;
    proceed?.();
  }

  function waitForSlot(client: string, signal: AbortSignal | undefined): Promise<void> {
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
        waiting -= 1;
        queue.delete(proceed);
        if (queue.size === 0) queues.delete(client);
        signal?.removeEventListener('abort', cancel);
      };
      const queue = queues.get(client) ?? new Set();
      queues.set(client, queue.add(proceed));
      waiting += 1;
      signal?.addEventListener('abort', cancel);
    });
  }
}

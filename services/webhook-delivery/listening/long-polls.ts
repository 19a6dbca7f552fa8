/** Long polls: requests that wait until their listener has an event. */

/** How often MongoDB is queried for events while requests wait, ms. */
const checkEveryMs = 250;

/** Which events a request waits for, and how long. */
export interface WaitOptions {
  readonly listenerId: string;
  readonly ms: number;
  /** Aborted when the client disconnects. */
  readonly signal: AbortSignal;
}

/** The long polls of this process. */
export interface LongPolls {
  /**
   * Waits until the listener has an event, the time has passed, the client disconnects or another request waits for the
   * same listener.
   */
  wait(options: WaitOptions): Promise<void>;
  /** Returns the number of requests that wait. */
  count(): number;
  /** Ends all waits. From then on, no request waits. */
  drain(): void;
}

/**
 * Creates the long polls. All of them share one query: `findWithEvents` returns those of the listeners that have
 * events.
 */
export function createLongPolls(
  findWithEvents: (listenerIds: readonly string[]) => Promise<readonly string[]>,
): LongPolls {
  /** The functions that end the waits, by listener. */
  const waits = new Map<string, () => void>();
  let isDraining = false;
  let isChecking = false;
  let timer: NodeJS.Timeout | undefined;

  return {
    async wait({ listenerId, ms, signal }) {
      if (isDraining || signal.aborted) return;
      const { promise: ended, resolve: end } = Promise.withResolvers<void>();
      waits.get(listenerId)?.();
      waits.set(listenerId, end);
      const limit = setTimeout(end, ms);
      signal.addEventListener('abort', () => end(), { once: true });
      timer ??= setInterval(check, checkEveryMs);
      await ended;
      clearTimeout(limit);
      if (waits.get(listenerId) === end) waits.delete(listenerId);
      if (waits.size > 0) return;
      clearInterval(timer);
      timer = undefined;
    },
    count: () => waits.size,
    drain() {
      isDraining = true;
      for (const end of waits.values()) end();
    },
  };

  async function check(): Promise<void> {
    if (isChecking) return;
    isChecking = true;
    const checked = new Map(waits);
    try {
      for (const id of await findWithEvents([...checked.keys()])) checked.get(id)?.();
    } catch {
      // the requests query MongoDB themselves and report the error
      for (const end of checked.values()) end();
    } finally {
      isChecking = false;
    }
  }
}

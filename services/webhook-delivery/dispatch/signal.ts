/** A signal that wakes a loop. */
import { setImmediate as nextTurn } from 'node:timers/promises';

/** Creates a signal for one waiting loop. A notification before the wait ends the next wait at once. */
export function createSignal() {
  let notified = Promise.withResolvers<void>();
  return {
    /** Ends the current wait, or the next one. */
    notify: () => notified.resolve(),

    /** Waits for a notification, or for at most `maxMs`. */
    async wait(maxMs?: number): Promise<void> {
      const timer = maxMs === undefined ? undefined : setTimeout(notified.resolve, maxMs);
      await notified.promise;
      clearTimeout(timer);
      notified = Promise.withResolvers();
      // several slots often become free in one turn of the event loop
      await nextTurn();
    },
  };
}

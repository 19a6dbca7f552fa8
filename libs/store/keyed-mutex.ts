/**
 * A keyed mutex: runs work with the same key one at a time in a process, to avoid write conflicts in MongoDB.
 */

/** Runs `work` after all earlier work with the same key. */
export type KeyedMutex = <R>(key: string, work: () => Promise<R>) => Promise<R>;

/** Creates a keyed mutex. */
export function keyedMutex(): KeyedMutex {
  const last = new Map<string, Promise<unknown>>();
  return async (key, work) => {
    const previous = last.get(key) ?? Promise.resolve();
    const result = previous.then(work, work);
    const settled = result.catch(() => undefined);
    last.set(key, settled);
    try {
      return await result;
    } finally {
      if (last.get(key) === settled) last.delete(key);
    }
  };
}

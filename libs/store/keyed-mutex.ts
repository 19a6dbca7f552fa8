/** Turns: work on one key is done one after the other within the process, so that it does not conflict in MongoDB. */

/** Runs work for a key after all earlier work for the same key. */
export type KeyedMutex = <R>(key: string, work: () => Promise<R>) => Promise<R>;

/** A new set of turns. */
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

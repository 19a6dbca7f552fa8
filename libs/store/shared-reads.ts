/** Shared reads: what concurrent requests ask for in the same turn of the event loop is read together. */
import { setImmediate } from 'node:timers';
import { setImmediate as endOfTurn } from 'node:timers/promises';
import DataLoader from 'dataloader';

/** How a shared read works. */
export interface SharedReadOptions<Key, Value> {
  /** Returns the same text for equal keys, and different texts for different ones. */
  toId(key: Key): string;
  /** Reads the values of at most 100 keys, of which no two are equal. Returns them by the text of `toId`. */
  read(keys: readonly Key[]): Promise<ReadonlyMap<string, Value>>;
}

/**
 * Creates a function that reads the value of a key; undefined if there is none. Nothing is cached: no call gets a value
 * that was read before the call. Calls with equal keys may get the same object, so do not change it. If a read fails,
 * all calls that share it reject.
 */
export function sharedRead<Key, Value>({
  toId,
  read,
}: SharedReadOptions<Key, Value>): (key: Key) => Promise<Value | undefined> {
  const loader = new DataLoader<Key, Value | undefined>(
    async (keys) => {
      // without its cache, the loader repeats equal keys
      const keyById = new Map(keys.map((key) => [toId(key), key]));
      const valueById = await read([...keyById.values()]);
      return keys.map((key) => valueById.get(toId(key)));
    },
    {
      cache: false,
      maxBatchSize: 100,
      // at the end of the turn, when all data that had arrived has been handled
      batchScheduleFn: (start) => void setImmediate(start),
    },
  );
  return (key) => loader.load(key);
}

/** How a read of a single key works. */
interface SharedReadPerKeyOptions<Key, Value> extends Pick<SharedReadOptions<Key, Value>, 'toId'> {
  readOne(key: Key): Promise<Value>;
}

/**
 * Like `sharedRead`, but reads each key on its own: only calls with equal keys share a read. A read that fails or takes
 * long affects no calls with other keys.
 */
export function sharedReadPerKey<Key, Value>({
  toId,
  readOne,
}: SharedReadPerKeyOptions<Key, Value>): (key: Key) => Promise<Value> {
  /** The reads that have not begun: they begin at the end of the turn. */
  const planned = new Map<string, Promise<Value>>();
  return (key) => {
    const id = toId(key);
    const read =
      planned.get(id) ??
      endOfTurn().then(() => {
        planned.delete(id);
        return readOne(key);
      });
    planned.set(id, read);
    return read;
  };
}

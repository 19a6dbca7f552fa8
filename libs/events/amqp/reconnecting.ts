/** Keeps something open: opens it, and opens it anew with back-off whenever it is lost, until it is closed. */
import { setTimeout as pause } from 'node:timers/promises';

/** Something that was opened. */
export interface OpenResource<T> {
  value: T;
  /** Resolves with the reason when it is of no use any more. */
  lost: Promise<unknown>;
  /** Lets go of it; never rejects, and never takes long. */
  close(): Promise<void>;
}

/** Something that is kept open. */
export interface AutoReconnect<T> {
  /** What is open now. */
  readonly current: T | undefined;
  /** The next one, or the one of now; rejects when it is closed before. */
  whenOpen(): Promise<T>;
  /** Gives up the one of now, so that it is opened anew. */
  reopen(why: unknown): void;
  /** Resolves when nothing is open any more. */
  close(): Promise<void>;
}

const firstPauseMs = 100;
const maxPauseMs = 2_000;
/** What lasts shorter was no success: the pauses go on growing. */
const stableMs = 5_000;
/** While it cannot be opened this is said at first and then every so many times, about once a minute. */
const logEvery = 30;

/** Keeps something open. `open` is given a signal that is aborted at `close`. */
export function autoReconnect<T>(options: {
  name: string;
  open(signal: AbortSignal): Promise<OpenResource<T>>;
  onError(what: string, error: unknown): void;
}): AutoReconnect<T> {
  const closing = new AbortController();
  const { signal } = closing;
  const closed = new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
  let current: { value: T; renew(why: unknown): void } | undefined;
  let nextOpen = Promise.withResolvers<T>();
  // nobody may be waiting
  nextOpen.promise.catch(() => {});
  const running = run();

  return {
    get current() {
      return current?.value;
    },
    whenOpen: () => (current ? Promise.resolve(current.value) : nextOpen.promise),
    reopen: (why) => current?.renew(why),
    async close() {
      closing.abort(new Error(`${options.name} is closed`));
      await running;
    },
  };

  async function run(): Promise<void> {
    for (let failures = 0; !signal.aborted; failures += 1) {
      const openMs = await openOnce(failures);
      if (openMs > stableMs) failures = 0;
      const pauseMs = Math.min(maxPauseMs, firstPauseMs * 2 ** failures);
      // not all clients at once
      await pause(pauseMs * (0.5 + Math.random() / 2), undefined, { signal }).catch(() => {});
    }
    nextOpen.reject(signal.reason);
  }

  /** Opens it and waits until it is lost; gives how long it was open, ms. */
  async function openOnce(failures: number): Promise<number> {
    let opened: OpenResource<T>;
    try {
      opened = await options.open(signal);
    } catch (error) {
      if (!signal.aborted && failures % logEvery === 0)
        options.onError(`${options.name} cannot be opened`, error);
      return 0;
    }
    const since = performance.now();
    const renewed = Promise.withResolvers<unknown>();
    current = { value: opened.value, renew: renewed.resolve };
    nextOpen.resolve(opened.value);
    const why = await Promise.race([opened.lost, renewed.promise, closed]);
    current = undefined;
    nextOpen = Promise.withResolvers<T>();
    nextOpen.promise.catch(() => {});
    if (!signal.aborted) options.onError(`${options.name} is lost and will be opened again`, why);
    await opened.close();
    return performance.now() - since;
  }
}

/** The result of work, or an error when it takes longer. */
export async function within<T>(limitMs: number, what: string, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what}: no answer within ${limitMs / 1000} s`)), limitMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

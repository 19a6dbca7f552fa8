/** Opens a resource, such as a connection, and reopens it with backoff whenever it is lost. */
import { setTimeout as pause } from 'node:timers/promises';

/** An open resource. */
export interface OpenResource<T> {
  value: T;
  /** Resolves with the reason when the resource is lost. */
  lost: Promise<unknown>;
  /** Closes the resource. Must not reject and must not block for long. */
  close(): Promise<void>;
}

/** A resource that is reopened whenever it is lost. */
export interface AutoReconnect<T> {
  /** The open resource, if there is one. */
  readonly current: T | undefined;
  /** Resolves with the open resource as soon as there is one. Rejects if `close` is called first. */
  whenOpen(): Promise<T>;
  /** Closes the current resource and opens a new one. */
  reopen(reason: unknown): void;
  /** Resolves when the resource is closed. It is not reopened. */
  close(): Promise<void>;
}

const firstPauseMs = 100;
const maxPauseMs = 2_000;
/** A resource that was open for longer resets the backoff, ms. */
const stableMs = 5_000;
/** While opening fails, the first failure and then every 30th is logged, about once a minute. */
const logEvery = 30;

/** Keeps a resource open. `open` gets a signal that `close` aborts. `name` starts the log messages. */
export function autoReconnect<T>(options: {
  name: string;
  open(signal: AbortSignal): Promise<OpenResource<T>>;
  onError(message: string, error: unknown): void;
}): AutoReconnect<T> {
  const closing = new AbortController();
  const { signal } = closing;
  let current: { value: T; reopen(reason: unknown): void } | undefined;
  let nextOpen = Promise.withResolvers<T>();
  // prevents an unhandled rejection if no caller waits
  nextOpen.promise.catch(() => {});
  const running = run();

  return {
    get current() {
      return current?.value;
    },
    whenOpen: () => (current ? Promise.resolve(current.value) : nextOpen.promise),
    reopen: (reason) => current?.reopen(reason),
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
      // jitter, so that clients do not reconnect all at once
      await pause(pauseMs * (0.5 + Math.random() / 2), undefined, { signal }).catch(() => {});
    }
    nextOpen.reject(signal.reason);
  }

  /** Opens the resource and waits until it is lost. Returns how long it was open, ms. */
  async function openOnce(failures: number): Promise<number> {
    let opened: OpenResource<T>;
    try {
      opened = await options.open(signal);
    } catch (error) {
      if (!signal.aborted && failures % logEvery === 0)
        options.onError(`${options.name} could not be opened`, error);
      return 0;
    }
    const since = performance.now();
    const reopened = Promise.withResolvers<unknown>();
    current = { value: opened.value, reopen: reopened.resolve };
    nextOpen.resolve(opened.value);
    const lost = Promise.race([opened.lost, reopened.promise]);
    const reason = await abortable(signal, lost).catch((error: unknown) => error);
    current = undefined;
    nextOpen = Promise.withResolvers<T>();
    nextOpen.promise.catch(() => {});
    if (!signal.aborted) options.onError(`${options.name} was lost and is being reopened`, reason);
    await opened.close();
    return performance.now() - since;
  }
}

/**
 * Waits for `work`. Rejects with the signal's reason if the signal is aborted first. Leaves no listener at the
 * signal, which may live as long as the process.
 */
export async function abortable<T>(signal: AbortSignal, work: Promise<T>): Promise<T> {
  const { promise: aborted, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  signal.addEventListener('abort', abort);
  if (signal.aborted) abort();
  try {
    return await Promise.race([work, aborted]);
  } finally {
    signal.removeEventListener('abort', abort);
  }
}

/** Waits for `work`. Rejects with an error that starts with `name` if it takes longer than `limitMs`. */
export async function within<T>(limitMs: number, name: string, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${name}: no response within ${limitMs / 1000} s`)), limitMs);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

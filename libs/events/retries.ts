/** How often a handler is tried before its event is set aside. */
import type { Envelope } from '#libs/contract';
import type { Handler } from './bus.ts';

/** The pauses between tries, ms: one more try than pauses. */
export type Retries = readonly number[];

/** Five tries over about eight seconds. */
export const standardRetries: Retries = [100, 400, 1600, 6400];

/** An error that no repetition mends: the event is set aside at once. */
export class UnrecoverableError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'UnrecoverableError';
  }
}

/** An error that is no fault of the event (our database is away): it is tried until that is over, however long it takes. */
export class DependencyUnavailable extends Error {
  constructor(cause: unknown) {
    super('Events cannot be handled right now', { cause });
    this.name = 'DependencyUnavailable';
  }
}

/** Between tries while events cannot be handled at all, ms. */
const unavailablePauseMs = 2_000;

/**
 * Runs the handler until it succeeds, each time with a copy of its own; rejects with its last error, or with the
 * signal's reason where it would have to try again after the signal aborted.
 */
export async function tryHandling(
  handler: Handler,
  event: Envelope,
  retries: Retries,
  signal: AbortSignal,
): Promise<void> {
  for (const pauseMs of [...retries, undefined]) {
    try {
      return await handleWhenAvailable(handler, event, signal);
    } catch (error) {
      if (pauseMs === undefined || error instanceof UnrecoverableError) throw error;
      await pause(pauseMs, signal);
    }
  }
}

/** One try that counts. */
async function handleWhenAvailable(handler: Handler, event: Envelope, signal: AbortSignal): Promise<void> {
  for (;;) {
    try {
      return await handler(structuredClone(event), signal);
    } catch (error) {
      if (!(error instanceof DependencyUnavailable)) throw error;
      await pause(unavailablePauseMs, signal);
    }
  }
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const stop = () => {
      clearTimeout(timer);
      reject(signal.reason);
    };
    const timer = setTimeout(() => {
      signal.removeEventListener('abort', stop);
      resolve();
    }, ms);
    if (signal.aborted) stop();
    else signal.addEventListener('abort', stop, { once: true });
  });
}

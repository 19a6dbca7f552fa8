/** Retries of a failing event handler. */
import type { Envelope } from '#libs/contract';
import type { Handler } from './bus.ts';

/** The pauses between attempts, ms. There is one more attempt than pauses. */
export type Retries = readonly number[];

/** Five attempts with 8.5 seconds of pauses. */
export const standardRetries: Retries = [100, 400, 1600, 6400];

/** An error that a retry cannot fix: the event is dead-lettered at once. */
export class UnrecoverableError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = 'UnrecoverableError';
  }
}

/**
 * A dependency, such as the database, is unavailable. Retries continue until it is back and are not counted.
 */
export class DependencyUnavailable extends Error {
  constructor(cause: unknown) {
    super('A dependency is unavailable', { cause });
    this.name = 'DependencyUnavailable';
  }
}

/** The pause between attempts while a dependency is unavailable, ms. */
const unavailablePauseMs = 2_000;

/**
 * Runs the handler until it succeeds, each time with its own copy of the event. Rejects with the last error,
 * or with the signal's reason if the signal is aborted before the next attempt.
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

/** Makes one attempt that counts: repeats it while a dependency is unavailable. */
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

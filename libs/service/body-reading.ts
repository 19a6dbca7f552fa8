/** Creates what the routers of a process share to read bodies. */
import { type BodyReading, createBodyBudget, createBodyParser } from '#libs/http';
import type { Log } from './log.ts';
import type { CommonSettings } from './settings.ts';

/** Creates the budget for bodies, and their parser with its worker. */
export function createBodyReading(
  { BODY_MEMORY_MB }: CommonSettings,
  log: Log,
  worker: URL | undefined,
): BodyReading {
  const onError = (error: unknown) => log.error({ err: error }, 'Body worker exited unexpectedly');
  return {
    budget: createBodyBudget(BODY_MEMORY_MB * 2 ** 20),
    parser: createBodyParser(worker, { onError, onRejected: () => undefined }),
  };
}

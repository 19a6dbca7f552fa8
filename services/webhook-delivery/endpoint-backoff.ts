/** Leaving alone: an endpoint that does not answer is not asked for a while, and what is due for it waits in MongoDB. */
import { setImmediate as afterOthers } from 'node:timers/promises';
import type { DeliveryMetrics } from './metrics.ts';
import { type CircuitBreakers, isUnanswered } from './rules/circuit-breaker.ts';
import { perEndpoint } from './rules/fair-scheduler.ts';
import type { Postponing } from './store/postponement.ts';
import type { Result } from './store/queue.ts';

/** An endpoint that was not heard of for so long is forgotten. */
const memoryMs = 3_600_000;

/** What leaving alone needs. */
export interface EndpointBackoffDeps {
  breakers: CircuitBreakers;
  postponing: Postponing;
  metering: Pick<DeliveryMetrics, 'ended'>;
  onError(what: string, error: unknown): void;
}

/** Knows whom this process leaves alone, and has their due rows postponed, beside everything else. */
export function endpointBackoff({ breakers, postponing, metering, onError }: EndpointBackoffDeps) {
  const toPostpone = new Set<string>();
  let postponement: Promise<void> | undefined;

  return {
    /** How many requests an endpoint may have in flight now. */
    limit: (configId: string) => breakers.permits(configId, performance.now(), perEndpoint),

    /** Endpoints whose due rows are still to be postponed. */
    pending: () => [...toPostpone],

    /** There are due rows of endpoints that are left alone. */
    postpone,

    /** An attempt has ended. True when its endpoint is to be left alone from now on. */
    async learn(configId: string, result: Result): Promise<boolean> {
      if (result.http_status !== null) {
        if (breakers.recordSuccess(configId)) await postponing.resume(configId);
        return false;
      }
      const isOver = isUnanswered(result) && breakers.recordFailure(configId, performance.now());
      if (isOver) postpone([configId]);
      return isOver;
    },

    /** Forgets whoever was not heard of for long. */
    tidy: () => breakers.evict(performance.now() - memoryMs),

    /** Resolves when nothing is being postponed. */
    rest: async () => postponement,
  };

  function postpone(configIds: readonly string[]): void {
    for (const configId of configIds) toPostpone.add(configId);
    if (toPostpone.size > 0) postponement ??= postponeAll();
  }

  async function postponeAll(): Promise<void> {
    await afterOthers();
    for (const configId of toPostpone) {
      try {
        const leftMs = breakers.remainingMs(configId, performance.now());
        if (leftMs > 0) metering.ended('failed', await postponing.postpone(configId, leftMs));
      } catch (error) {
        onError('Deliveries could not be postponed', error);
      }
      toPostpone.delete(configId);
    }
    postponement = undefined;
  }
}

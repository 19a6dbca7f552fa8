/** Applies the circuit breaker: postpones due deliveries in MongoDB while the endpoint's breaker is open. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { DeliveryMetrics } from '../metrics.ts';
import { type CircuitBreakers, isUnanswered } from '../rules/circuit-breaker.ts';
import { perEndpoint } from '../rules/dynamic-threshold-scheduler.ts';
import type { Postponements } from '../store/postponement.ts';
import type { AttemptResult } from '../store/queue.ts';

/** The state of an endpoint without failures for this long is deleted. */
const evictAfterMs = 3_600_000;

/** Dependencies of the endpoint backoff. */
export interface EndpointBackoffDeps {
  breakers: CircuitBreakers;
  postponements: Postponements;
  metrics: Pick<DeliveryMetrics, 'recordFinished'>;
  onError(message: string, error: unknown): void;
}

export type EndpointBackoff = ReturnType<typeof createEndpointBackoff>;

/** Creates the endpoint backoff of this process. It postpones deliveries in the background. */
export function createEndpointBackoff({ breakers, postponements, metrics, onError }: EndpointBackoffDeps) {
  const toPostpone = new Set<string>();
  let postponement: Promise<void> | undefined;

  return {
    /** Returns how many requests an endpoint may have in flight now: 4, 1 while half-open, 0 while open. */
    limit: (configId: string) => breakers.permits(configId, performance.now(), perEndpoint),

    /** Returns the endpoints whose due deliveries have not been postponed yet. */
    pending: () => [...toPostpone],

    /** Postpones the due deliveries of these endpoints in the background if their breakers are open. */
    postpone,

    /** Records the result of an attempt. Returns true if the breaker of the endpoint opened. */
    async recordResult(configId: string, result: AttemptResult): Promise<boolean> {
      if (result.http_status !== null) {
        if (breakers.recordSuccess(configId)) await postponements.resume(configId);
        return false;
      }
      const hasOpened = isUnanswered(result) && breakers.recordFailure(configId, performance.now());
      if (hasOpened) postpone([configId]);
      return hasOpened;
    },

    /** Deletes the state of endpoints without failures in the last hour. */
    evictStale: () => breakers.evict(performance.now() - evictAfterMs),

    /** Resolves when no postponement is running. */
    idle: async () => postponement,
  };

  function postpone(configIds: readonly string[]): void {
    for (const configId of configIds) toPostpone.add(configId);
    if (toPostpone.size > 0) postponement ??= postponeAll();
  }

  async function postponeAll(): Promise<void> {
    await nextTurn();
    for (const configId of toPostpone) {
      try {
        const remainingMs = breakers.remainingMs(configId, performance.now());
        if (remainingMs > 0)
          metrics.recordFinished('failed', await postponements.postpone(configId, remainingMs));
      } catch (error) {
        onError('Could not postpone deliveries', error);
      }
      toPostpone.delete(configId);
    }
    postponement = undefined;
  }
}

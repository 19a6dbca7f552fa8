/** Applies the circuit breaker: postpones due deliveries in MongoDB while the endpoint's breaker is open. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import type { DeliveryMetrics } from '../metrics.ts';
import { type CircuitBreakers, isUnanswered } from '../rules/circuit-breaker.ts';
import { type Candidate, perEndpoint } from '../rules/dynamic-threshold-scheduler.ts';
import type { AttemptResult } from '../store/queue.ts';
import type { Receiver, Receivers } from '../store/receivers.ts';
import type { WaitingDeliveries } from '../store/waiting-deliveries.ts';

/** Dependencies of the endpoint backoff. */
export interface EndpointBackoffDeps {
  breakers: CircuitBreakers;
  receivers: Pick<Receivers, 'getBreakerGeneration'>;
  waiting: Pick<WaitingDeliveries, 'postpone' | 'resume'>;
  metrics: Pick<DeliveryMetrics, 'recordFinished'>;
  onError(message: string, error: unknown): void;
}

export type EndpointBackoff = ReturnType<typeof createEndpointBackoff>;

/** Creates the endpoint backoff of this process. It postpones deliveries in the background. */
export function createEndpointBackoff(deps: EndpointBackoffDeps) {
  const { breakers, receivers, waiting, metrics, onError } = deps;
  const toPostpone = new Set<string>();
  const permits = (configId: string) => breakers.permits(configId, performance.now(), perEndpoint);
  let postponement: Promise<void> | undefined;

  return {
    /** Returns how many requests an endpoint may have in flight now: 4, 1 while half-open, 0 while open. */
    permits,

    /** Returns the endpoints whose due deliveries have not been postponed yet. */
    pending: () => [...toPostpone],

    /**
     * Returns the rows whose endpoints may have requests in flight. Postpones the due deliveries of the other
     * endpoints in the background.
     */
    admit(rows: readonly Candidate[]): Candidate[] {
      const isBlocked = ({ config_id }: Candidate) => permits(config_id) === 0;
      postpone(rows.filter(isBlocked).map(({ config_id }) => config_id));
      return rows.filter((row) => !isBlocked(row));
    },

    /** Records the result of an attempt. Returns true if the breaker of the endpoint opened. */
    async recordResult(
      { id, breakerGeneration }: Pick<Receiver, 'id' | 'breakerGeneration'>,
      result: AttemptResult,
    ): Promise<boolean> {
      if (result.http_status !== null) {
        if (breakers.recordSuccess(id)) await waiting.resume(id);
        return false;
      }
      const hasOpened =
        isUnanswered(result) && breakers.recordFailure(id, breakerGeneration, performance.now());
      if (hasOpened) postpone([id]);
      return hasOpened;
    },

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
        await postponeDue(configId);
      } catch (error) {
        onError('Could not postpone deliveries', error);
      }
      toPostpone.delete(configId);
    }
    postponement = undefined;
  }

  async function postponeDue(configId: string): Promise<void> {
    if (await closeIfOutdated(configId)) return;
    const remainingMs = breakers.remainingMs(configId, performance.now());
    if (remainingMs === 0) return;
    metrics.recordFinished('failed', await waiting.postpone(configId, remainingMs));
    // a response or a change in between has resumed the deliveries before they were postponed
    await closeIfOutdated(configId);
    if (breakers.remainingMs(configId, performance.now()) === 0) await waiting.resume(configId);
  }

  async function closeIfOutdated(configId: string): Promise<boolean> {
    return breakers.closeIfOutdated(configId, await receivers.getBreakerGeneration(configId));
  }
}

/** Periodic maintenance: unlocks rows of dead processes, reports failing webhooks, deletes what has expired. */
import { every, type Worker } from '#libs/service';
import type { DeliveryMetrics } from '../metrics.ts';
import type { CircuitBreakers } from '../rules/circuit-breaker.ts';
import type { Configs } from '../store/configs.ts';
import type { Queue } from '../store/queue.ts';
import type { FailingWebhooks } from './failing-webhooks.ts';

const sweepEveryMs = 15_000;
const notifyEveryMs = 2_000;
/** Expired secrets sign nothing, so their deletion is not urgent. */
const deleteSecretsEveryMs = 5_000;
/** The circuit breaker of an endpoint without failures for this long is deleted. */
const evictAfterMs = 3_600_000;

/** Dependencies of the maintenance. */
interface MaintenanceDeps {
  queue: Pick<Queue, 'sweep'>;
  breakers: Pick<CircuitBreakers, 'evict'>;
  metrics: Pick<DeliveryMetrics, 'recordFinished'>;
  configs: Pick<Configs, 'deleteExpiredSecrets'>;
  failing: Pick<FailingWebhooks, 'notifyFailures'>;
  onError(message: string, error: unknown): void;
}

/** Creates the maintenance worker. Several replicas may run it at the same time. */
export function createMaintenanceWorker(deps: MaintenanceDeps): Worker {
  const { queue, breakers, metrics, configs, failing, onError } = deps;
  const onTaskError = (error: unknown) => onError('Webhook maintenance failed', error);
  const onSweepError = (error: unknown) => onError('Could not sweep expired delivery locks', error);
  const timers = [
    every(sweepEveryMs, sweep, onSweepError),
    every(notifyEveryMs, failing.notifyFailures, onTaskError),
    every(deleteSecretsEveryMs, configs.deleteExpiredSecrets, onTaskError),
  ];
  return {
    start() {
      for (const timer of timers) timer.start();
    },
    async stop() {
      await Promise.all(timers.map((timer) => timer.stop()));
    },
  };

  async function sweep(): Promise<void> {
    breakers.evict(performance.now() - evictAfterMs);
    metrics.recordFinished('failed', await queue.sweep());
  }
}

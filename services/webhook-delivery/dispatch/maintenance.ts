/** Periodic webhook maintenance: publishes failure notifications and deletes expired secrets. */
import { every, type Worker } from '#libs/service';
import type { Configs } from '../store/configs.ts';
import type { FailingWebhooks } from './failing-webhooks.ts';

const notifyEveryMs = 1_000;
/** Expired secrets sign nothing, so their deletion is not urgent. */
const deleteSecretsEveryMs = 5_000;

/** Creates the maintenance worker. Several replicas may run it at the same time. */
export function createMaintenanceWorker({
  configs,
  failing,
  onError,
}: {
  configs: Pick<Configs, 'deleteExpiredSecrets'>;
  failing: Pick<FailingWebhooks, 'notifyFailures'>;
  onError(message: string, error: unknown): void;
}): Worker {
  const onTaskError = (error: unknown) => onError('Webhook maintenance failed', error);
  const notificationTimer = every(notifyEveryMs, () => failing.notifyFailures(), onTaskError);
  const secretTimer = every(deleteSecretsEveryMs, () => configs.deleteExpiredSecrets(), onTaskError);
  return {
    start() {
      notificationTimer.start();
      secretTimer.start();
    },
    async stop() {
      await Promise.all([notificationTimer.stop(), secretTimer.stop()]);
    },
  };
}

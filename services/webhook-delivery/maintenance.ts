/** Tending: what time brings to webhooks without anybody asking. */
import { every, type Worker } from '#libs/service';
import type { Configs } from './store/configs.ts';
import type { Failures } from './store/failures.ts';

const tellEveryMs = 1_000;
/** A secret that is not in force signs nothing: that it is forgotten is not urgent. */
const forgetEveryMs = 5_000;

/** The worker. Any number of replicas may do it side by side. */
export function maintenanceWorker(options: {
  configs: Pick<Configs, 'forgetSecrets'>;
  failures: Failures;
  onError(what: string, error: unknown): void;
}): Worker {
  const troubled = (error: unknown) => options.onError('Webhooks could not be tended', error);
  const telling = every(tellEveryMs, () => options.failures.tell(), troubled);
  const forgetting = every(forgetEveryMs, () => options.configs.forgetSecrets(), troubled);
  return {
    start() {
      telling.start();
      forgetting.start();
    },
    async stop() {
      await Promise.all([telling.stop(), forgetting.stop()]);
    },
  };
}

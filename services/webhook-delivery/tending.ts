/** Tending: what time brings to webhooks without anybody asking. */
import { every, type Worker } from '#libs/service';
import type { Configs } from './store/configs.ts';
import type { Failures } from './store/failures.ts';

const pauseMs = 1_000;

/** The worker. Any number of replicas may do it side by side. */
export function tending(of: {
  configs: Pick<Configs, 'forgetSecrets'>;
  failures: Failures;
  trouble(what: string, error: unknown): void;
}): Worker {
  const troubled = (error: unknown) => of.trouble('Webhooks could not be tended', error);
  return every(pauseMs, tend, troubled);

  async function tend(): Promise<void> {
    await of.failures.tell();
    await of.configs.forgetSecrets();
  }
}

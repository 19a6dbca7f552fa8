/**
 * Detects that the broker lost its queues. Each service with an outbox has a sentinel queue, which is always
 * empty. If it is missing, the broker was reset, even if another process has already declared the other
 * queues again.
 */
import type { ChannelModel } from 'amqplib';
import { type Connection, closeChannel, openChannel } from './connection.ts';
import { type Names, queueExists } from './topology-setup.ts';

const retryMs = 5_000;

/** Creates a detector that calls `onBrokerReset` once for each reset of the broker. */
export function detectBrokerReset({
  names,
  owners,
  onBrokerReset,
  onError,
}: {
  names: Names;
  owners: readonly string[];
  onBrokerReset?: (() => Promise<void>) | undefined;
  onError(message: string, error: unknown): void;
}) {
  let wasDeclared = false;
  let isReset = false;
  let lastCheck: Promise<void> = Promise.resolve();

  return {
    /** Records which queues did not exist. After the first declaration, a missing queue means a reset. */
    onDeclared(missing: readonly string[]): void {
      if (wasDeclared && missing.length > 0) isReset = true;
      wasDeclared = true;
    },
    /**
     * Checks for a reset, calls `onBrokerReset` and declares the sentinels. Retries until it succeeds or the
     * connection is lost. Never rejects.
     */
    async check({ model, lost }: Connection): Promise<void> {
      let isLost = false;
      void lost.then(() => {
        isLost = true;
      });
      while (!isLost) {
        try {
          // one check at a time, so that one reset is reported once
          const check = lastCheck.then(() => isLost || checkSentinels(model));
          lastCheck = check.then(
            () => {},
            () => {},
          );
          await check;
          return;
        } catch (error) {
          if (isLost) return;
          onError('Could not check whether RabbitMQ lost its queues', error);
          await Promise.race([lost, new Promise((resolve) => setTimeout(resolve, retryMs).unref())]);
        }
      }
    },
  };

  async function checkSentinels(model: ChannelModel): Promise<undefined> {
    const sentinels = owners.map(names.sentinel);
    const missing = [];
    for (const sentinel of sentinels) if (!(await queueExists(model, sentinel))) missing.push(sentinel);
    if (missing.length === 0 && !isReset) return;
    await onBrokerReset?.();
    isReset = false;
    const channel = await openChannel(model);
    // declared last: if the process dies before, the next check reports the reset
    for (const mark of missing) await channel.assertQueue(mark);
    await closeChannel(channel);
  }
}

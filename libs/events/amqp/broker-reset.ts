/**
 * Notices that the broker came back empty. Each owner of an outbox has a queue on the broker in which nothing ever is:
 * when it is not there, then the broker has lost what it was given, whoever has declared the rest anew meanwhile.
 */
import type { ChannelModel } from 'amqplib';
import { type Connection, closeChannel, quietChannel } from './connection.ts';
import { type Names, queueExists } from './topology-setup.ts';

const retryMs = 5_000;

/** Detects that the broker lost its queues, and calls `onBrokerReset` once for each loss. */
export function detectBrokerReset({
  names,
  owners,
  onBrokerReset,
  onError,
}: {
  names: Names;
  owners: readonly string[];
  onBrokerReset?: (() => Promise<void>) | undefined;
  onError(what: string, error: unknown): void;
}) {
  let wasDeclared = false;
  let isReset = false;
  let lastCheck: Promise<void> = Promise.resolve();

  return {
    /** Remembers the queues that had to be made: after the first time they were known. */
    onDeclared(missing: readonly string[]): void {
      if (wasDeclared && missing.length > 0) isReset = true;
      wasDeclared = true;
    },
    /** Looks, tells, and leaves the marks; tries until it has succeeded or the connection is lost. Never rejects. */
    async check({ model, lost }: Connection): Promise<void> {
      let isLost = false;
      void lost.then(() => {
        isLost = true;
      });
      while (!isLost) {
        try {
          // one after the other: what one has told, the next finds done
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
    const channel = await quietChannel(model);
    // only now: whoever dies before has not been told
    for (const mark of missing) await channel.assertQueue(mark);
    await closeChannel(channel);
  }
}

/**
 * Notices that the broker came back empty. Each owner of an outbox has a queue on the broker in which nothing ever is:
 * when it is not there, then the broker has lost what it was given, whoever has declared the rest anew meanwhile.
 */
import type { ChannelModel } from 'amqplib';
import { type Connection, closed, quietChannel } from './connection.ts';
import { type Names, queueExists } from './topology-setup.ts';

const againMs = 5_000;

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
  let known = false;
  let emptied = false;
  let looking: Promise<void> = Promise.resolve();

  return {
    /** Remembers the queues that had to be made: after the first time they were known. */
    declared(missing: readonly string[]): void {
      if (known && missing.length > 0) emptied = true;
      known = true;
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
          const mine = looking.then(() => isLost || look(model));
          looking = mine.then(
            () => {},
            () => {},
          );
          await mine;
          return;
        } catch (error) {
          if (isLost) return;
          onError('Could not check whether RabbitMQ lost its queues', error);
          await Promise.race([lost, new Promise((resolve) => setTimeout(resolve, againMs).unref())]);
        }
      }
    },
  };

  async function look(model: ChannelModel): Promise<undefined> {
    const marks = owners.map(names.sentinel);
    const missing = [];
    for (const mark of marks) if (!(await queueExists(model, mark))) missing.push(mark);
    if (missing.length === 0 && !emptied) return;
    await onBrokerReset?.();
    emptied = false;
    const channel = await quietChannel(model);
    // only now: whoever dies before has not been told
    for (const mark of missing) await channel.assertQueue(mark);
    await closed(channel);
  }
}

/** Counts, lists and replays dead letters for operators, over a separate connection. */
import type { GetMessage } from 'amqplib';
import type { Secret } from '#libs/contract';
import type { Depth } from '../bus.ts';
import { openConnection, responseTimeoutMs } from './connection.ts';
import { countMessages, peekDeadLetters } from './dead-letters.ts';
import { within } from './reconnecting.ts';
import { prefixedNames, queueExists } from './topology-setup.ts';

/** Operations on dead letters. */
export interface DeadLetters {
  /** Counts the messages of a queue, its retry queue and its dead letters. */
  depth(queue: string): Promise<Depth>;
  /** Lists the first 1,000 dead letters of a queue, oldest first, without removing them. */
  list(queue: string): ReturnType<typeof peekDeadLetters>;
  /**
   * Moves dead letters back to their queue: those with the given ids, or all current ones. Returns the ids of
   * the moved messages. A message is removed from the dead letters after the broker confirms it in the queue.
   * A crash in between leaves a copy in both queues, and the inbox deduplicates it. Rejects if the queue does not
   * exist.
   */
  replay(queue: string, ids?: ReadonlySet<string>): Promise<string[]>;
  close(): Promise<void>;
}

/**
 * Connects to a broker on which the topology is already declared. Rejects if the broker cannot be reached.
 */
export async function openDeadLetters({
  url,
  prefix,
}: {
  url: Secret;
  prefix: string;
}): Promise<DeadLetters> {
  const names = prefixedNames(prefix);
  const opened = await openConnection({
    url,
    name: 'pds-dead-letters',
    prepare: async () => undefined,
    onError: () => undefined,
    signal: new AbortController().signal,
  });
  const { model } = opened.value;
  return {
    depth: (queue) => countMessages(model, names.queue(queue), names.retry(queue), names.dead(queue)),
    list: (queue) => peekDeadLetters(model, names.dead(queue)),
    async replay(queue, ids) {
      const target = names.queue(queue);
      // the broker confirms a message to a missing queue, and drops it
      if (!(await queueExists(model, target)))
        throw new Error(
          `The queue ${target} does not exist. Start the service of the queue, which declares it.`,
        );
      const channel = await model.createConfirmChannel();
      channel.on('error', () => {});
      const replayed: string[] = [];
      const messages: GetMessage[] = [];
      // takes all before it replays the first, which may become a dead letter again meanwhile
      for (;;) {
        const message = await channel.get(names.dead(queue));
        if (!message) break;
        // the unacknowledged messages return to the queue when the channel closes
        if (!ids || ids.has(String(message.properties.messageId))) messages.push(message);
      }
      for (const message of messages) {
        const { messageId, type, contentType } = message.properties;
        // without the headers of its dead-lettering
        const options = { persistent: true, messageId, type, contentType };
        channel.sendToQueue(target, message.content, options);
        await within(responseTimeoutMs, target, channel.waitForConfirms());
        channel.ack(message);
        replayed.push(String(messageId));
      }
      await channel.close();
      return replayed;
    },
    close: () => opened.close(),
  };
}

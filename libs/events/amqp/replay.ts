/** Counts, lists and replays dead letters for operators, over a separate connection. */
import type { Channel, ChannelModel, GetMessage } from 'amqplib';
import type { Secret } from '#libs/contract';
import type { Depth } from '../bus.ts';
import { openConnection, responseTimeoutMs } from './connection.ts';
import { countMessages, type DeadLetterList, peekDeadLetters } from './dead-letters.ts';
import { within } from './reconnecting.ts';
import { prefixedNames, queueExists } from './topology-setup.ts';

/** The number of messages that a replay has in memory at once. */
const batchSize = 1_000;

/** Operations on dead letters. */
export interface DeadLetters {
  /** Counts the messages of a queue, its retry queue and its dead letters. */
  depth(queue: string): Promise<Depth>;
  /** Lists the first 1,000 dead letters of a queue, oldest first, without removing them. */
  list(queue: string): Promise<DeadLetterList>;
  /**
   * Moves dead letters back to their queue: those with the given ids, or all current ones. Calls `onReplayed`
   * with the id of each message as soon as it is moved, and returns all ids. A message is removed from the dead
   * letters after the broker confirms it in the queue. A crash in between leaves a copy in both queues, and the
   * inbox deduplicates it. Rejects if the queue does not exist.
   */
  replay(queue: string, ids?: ReadonlySet<string>, onReplayed?: (id: string) => void): Promise<string[]>;
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
    async replay(queue, ids, onReplayed) {
      const target = names.queue(queue);
      // the broker confirms a message to a missing queue, and drops it
      if (!(await queueExists(model, target)))
        throw new Error(
          `The queue ${target} does not exist. Start the service of the queue, which declares it.`,
        );
      return replayDeadLetters(model, { queue: names.dead(queue), target, ids, onReplayed });
    },
    close: () => opened.close(),
  };
}

/** Moves dead letters of `queue` to `target`, as `replay` describes. */
export async function replayDeadLetters(
  model: ChannelModel,
  options: {
    queue: string;
    target: string;
    ids?: ReadonlySet<string> | undefined;
    onReplayed?: ((id: string) => void) | undefined;
  },
): Promise<string[]> {
  const { queue, target, ids, onReplayed } = options;
  const channel = await model.createConfirmChannel();
  channel.on('error', () => {});
  const replayed = new Set<string>();
  // a replayed event that became a dead letter again is not replayed a second time
  const isChosen = (id: string) => (!ids || ids.has(id)) && !replayed.has(id);
  for (;;) {
    const messages = await takeBatch(channel, queue, isChosen);
    if (messages.length === 0) break;
    for (const message of messages) {
      const { messageId, type, contentType } = message.properties;
      // without the headers of its dead-lettering
      const properties = { persistent: true, messageId, type, contentType };
      channel.sendToQueue(target, message.content, properties);
      await within(responseTimeoutMs, target, channel.waitForConfirms());
      replayed.add(String(messageId));
      onReplayed?.(String(messageId));
      channel.ack(message);
    }
  }
  await channel.close();
  return [...replayed];
}

/**
 * Takes chosen messages until the batch is full or the queue is empty: RabbitMQ's count of messages can be wrong.
 * The other messages stay unacknowledged and return to the queue when the channel closes.
 */
async function takeBatch(
  channel: Channel,
  queue: string,
  isChosen: (id: string) => boolean,
): Promise<GetMessage[]> {
  const messages: GetMessage[] = [];
  while (messages.length < batchSize) {
    const message = await channel.get(queue);
    if (!message) break;
    if (isChosen(String(message.properties.messageId))) messages.push(message);
  }
  return messages;
}

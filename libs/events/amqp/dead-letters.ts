/** Counts the messages of a queue and lists its dead letters without removing them. */
import type { ChannelModel } from 'amqplib';
import type { Envelope } from '#libs/contract';
import type { Depth } from '../bus.ts';
import { closeChannel, openChannel } from './connection.ts';
import { within } from './reconnecting.ts';

const maxMessages = 1_000;
const countMs = 2_000;

/** The first dead letters of a queue. */
export interface DeadLetterList {
  /** At most 1,000 events, oldest first. */
  events: Envelope[];
  /** Whether the queue has no other dead letters. */
  isComplete: boolean;
}

/** Lists the first 1,000 dead letters, oldest first. Messages that are not JSON are left out. */
export async function peekDeadLetters(model: ChannelModel, queue: string): Promise<DeadLetterList> {
  const channel = await openChannel(model);
  const events: Envelope[] = [];
  try {
    for (let count = 0; ; count += 1) {
      const message = await channel.get(queue);
      if (!message) return { events, isComplete: true };
      if (count === maxMessages) return { events, isComplete: false };
      events.push(...parseEvents(message.content));
    }
  } finally {
    // returns the unacknowledged messages to the queue; after an error, the channel may be closed already
    await closeChannel(channel).catch(() => undefined);
  }
}

/**
 * Counts the messages in a queue, its retry queue and its dead letters. Rejects if one of the queues does not
 * exist.
 */
export async function countMessages(
  model: ChannelModel,
  queue: string,
  retryQueue: string,
  deadQueue: string,
): Promise<Depth> {
  const channel = await openChannel(model);
  const count = async (name: string) => (await channel.checkQueue(name)).messageCount;
  try {
    const counts = Promise.all([count(queue), count(retryQueue), count(deadQueue)]);
    const [ready, retry, dead] = await within(countMs, queue, counts);
    return { ready, retry, dead };
  } finally {
    // not awaited, because a slow broker also closes slowly; after an error, the channel may be closed already
    closeChannel(channel).catch(() => undefined);
  }
}

function parseEvents(content: Buffer): Envelope[] {
  try {
    return [JSON.parse(content.toString())];
  } catch {
    return [];
  }
}

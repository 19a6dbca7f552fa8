/** Looks at what is in a queue and at its dead letters, and leaves them where they are. */
import type { ChannelModel } from 'amqplib';
import type { Envelope } from '#libs/contract';
import type { Depth } from '../bus.ts';
import { closeChannel, quietChannel } from './connection.ts';
import { within } from './reconnecting.ts';

const maxMessages = 1_000;
const countMs = 2_000;

/** The first thousand, oldest first; what is no JSON is left out. */
export async function peekDeadLetters(model: ChannelModel, queue: string): Promise<Envelope[]> {
  const channel = await quietChannel(model);
  const events: Envelope[] = [];
  for (let count = 0; count < maxMessages; count += 1) {
    const message = await channel.get(queue);
    if (!message) break;
    events.push(...parseEvents(message.content));
  }
  // gives back what was not acknowledged
  await closeChannel(channel);
  return events;
}

/** Counts what is in a queue and in the two behind it; rejects when one of them is not there. */
export async function countMessages(
  model: ChannelModel,
  queue: string,
  retryQueue: string,
  deadQueue: string,
): Promise<Depth> {
  const channel = await quietChannel(model);
  const count = async (name: string) => (await channel.checkQueue(name)).messageCount;
  const counts = Promise.all([count(queue), count(retryQueue), count(deadQueue)]);
  const [ready, retry, dead] = await within(countMs, queue, counts);
  await closeChannel(channel);
  return { ready, retry, dead };
}

function parseEvents(content: Buffer): Envelope[] {
  try {
    return [JSON.parse(content.toString())];
  } catch {
    return [];
  }
}

/** Looks at what is in a queue and at its dead letters, and leaves them where they are. */
import type { ChannelModel } from 'amqplib';
import type { Envelope } from '#libs/contract';
import type { Depth } from '../bus.ts';
import { closed, quietChannel } from './connection.ts';
import { within } from './reconnecting.ts';

const most = 1_000;
const countMs = 2_000;

/** The first thousand, oldest first; what is no JSON is left out. */
export async function peeked(model: ChannelModel, queue: string): Promise<Envelope[]> {
  const channel = await quietChannel(model);
  const found: Envelope[] = [];
  for (let count = 0; count < most; count += 1) {
    const message = await channel.get(queue);
    if (!message) break;
    found.push(...parsed(message.content));
  }
  // gives back what was not acknowledged
  await closed(channel);
  return found;
}

/** Counts what is in a queue and in the two behind it; rejects when one of them is not there. */
export async function counted(
  model: ChannelModel,
  queue: string,
  retryQueue: string,
  deadQueue: string,
): Promise<Depth> {
  const channel = await quietChannel(model);
  const count = async (name: string) => (await channel.checkQueue(name)).messageCount;
  const counts = Promise.all([count(queue), count(retryQueue), count(deadQueue)]);
  const [ready, retry, dead] = await within(countMs, queue, counts);
  await closed(channel);
  return { ready, retry, dead };
}

function parsed(content: Buffer): Envelope[] {
  try {
    return [JSON.parse(content.toString())];
  } catch {
    return [];
  }
}

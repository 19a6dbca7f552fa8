/** Looks at the dead letters of a queue and leaves them where they are. */
import type { ChannelModel } from 'amqplib';
import type { Envelope } from '#libs/contract';
import { closed, quietChannel } from './connection.ts';

const most = 1_000;

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

function parsed(content: Buffer): Envelope[] {
  try {
    return [JSON.parse(content.toString())];
  } catch {
    return [];
  }
}

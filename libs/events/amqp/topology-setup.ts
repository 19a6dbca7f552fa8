/** What there is on the broker: the exchange, and for each hearing service a quorum queue, its second chances and its dead letters. */
import type { ChannelModel } from 'amqplib';
import type { Topology } from '../topology.ts';
import { closeChannel, quietChannel } from './connection.ts';

/** The names on the broker; a prefix keeps several systems on one broker apart. */
export interface Names {
  readonly exchange: string;
  readonly deadExchange: string;
  queue(name: string): string;
  /** Where everything goes that is set aside, and waits until it is looked at once more. */
  retry(name: string): string;
  dead(name: string): string;
  /** A queue that is there as long as the broker has kept what the owner of an outbox gave it. */
  sentinel(owner: string): string;
}

/** The names under a prefix. */
export function prefixedNames(prefix: string): Names {
  return {
    exchange: `${prefix}events`,
    deadExchange: `${prefix}events.dead`,
    queue: (name) => prefix + name,
    retry: (name) => `${prefix}${name}.retry`,
    dead: (name) => `${prefix}${name}.dead`,
    sentinel: (owner) => `${prefix}${owner}.sentinel`,
  };
}

/** How often an event may come back because a process died with it in hand; brokers before 4.0 have no limit of their own. */
const deliveryLimit = 5;
/** How often its second chance may come back: a lost connection looks like a death, so once more than never. */
const retryDeliveryLimit = 1;
/** More events than any service is ever behind: then publishing is refused, and the outbox keeps them. */
const defaultMaxLength = 1_000_000;
/** Peeking gives dead letters back, and brokers from 4.0 on would drop them after 20 times. */
const peekLimit = 1_000_000_000;

/**
 * Declares everything; gives the queues that were not there before. Rejects with 406 when a queue is there with other
 * arguments: such a change needs a new name and a drain.
 */
export async function declareTopology(
  model: ChannelModel,
  topology: Topology,
  names: Names,
  maxLength = defaultMaxLength,
): Promise<string[]> {
  const missing = [];
  for (const name of topology.keys()) if (!(await queueExists(model, names.queue(name)))) missing.push(name);
  const channel = await quietChannel(model);
  await channel.assertExchange(names.exchange, 'topic');
  await channel.assertExchange(names.deadExchange, 'direct');
  for (const [name, types] of topology) {
    // the dead letters first: an event that fails before there is a place for it would be held back
    await channel.assertQueue(names.dead(name), {
      arguments: { 'x-queue-type': 'quorum', 'x-delivery-limit': peekLimit },
    });
    await channel.bindQueue(names.dead(name), names.deadExchange, `${name}.dead`);
    await channel.assertQueue(names.retry(name), queueOptions(`${name}.dead`, retryDeliveryLimit));
    await channel.bindQueue(names.retry(name), names.deadExchange, name);
    await channel.assertQueue(names.queue(name), { maxLength, ...queueOptions(name, deliveryLimit) });
    for (const type of types) await channel.bindQueue(names.queue(name), names.exchange, type);
  }
  await closeChannel(channel);
  return missing;

  /** A queue that loses nothing: what is refused, or came back too often, goes to the dead exchange under a key. */
  function queueOptions(deadLetterRoutingKey: string, limit: number) {
    return {
      overflow: 'reject-publish',
      deadLetterExchange: names.deadExchange,
      deadLetterRoutingKey,
      arguments: {
        'x-queue-type': 'quorum',
        'x-delivery-limit': limit,
        'x-dead-letter-strategy': 'at-least-once',
      },
    } as const;
  }
}

/** Whether a queue is there. */
export async function queueExists(model: ChannelModel, queue: string): Promise<boolean> {
  // asking for one that is not there closes the channel
  const channel = await quietChannel(model);
  try {
    await channel.checkQueue(queue);
  } catch (error) {
    if (hasCode(error, 404)) return false;
    throw error;
  }
  await closeChannel(channel);
  return true;
}

function hasCode(error: unknown, code: number): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === code;
}

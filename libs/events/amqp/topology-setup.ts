/**
 * Declares the topology: the exchanges, and for each consuming service a quorum queue, its retry queue and its dead
 * letters. Events are published to one exchange, and the queues are bound to a second one. The last step binds the
 * second exchange to the first: so an event reaches all of its queues or none, also while a deleted exchange is
 * declared again.
 */
import type { ChannelModel } from 'amqplib';
import type { Topology } from '../topology.ts';
import { closeChannel, openChannel } from './connection.ts';

/** The names on the broker. A prefix separates several systems on one broker. */
export interface Names {
  /** The exchange to which events are published. */
  readonly exchange: string;
  /** The exchange to which the queues are bound. */
  readonly queueExchange: string;
  /** The exchange that takes failed events to the retry queues and then to the dead letters. */
  readonly deadLetterExchange: string;
  queue(name: string): string;
  /** The queue of rejected and too often delivered events, before they become dead letters. */
  retry(name: string): string;
  dead(name: string): string;
  /** An empty queue that exists until the broker is reset; see `broker-reset.ts`. */
  sentinel(owner: string): string;
}

/** Creates the names for a prefix. */
export function prefixedNames(prefix: string): Names {
  return {
    exchange: `${prefix}events`,
    queueExchange: `${prefix}events.queues`,
    deadLetterExchange: `${prefix}events.dead`,
    queue: (name) => prefix + name,
    retry: (name) => `${prefix}${name}.retry`,
    dead: (name) => `${prefix}${name}.dead`,
    sentinel: (owner) => `${prefix}${owner}.sentinel`,
  };
}

/** How often an event is redelivered after its process died. Brokers before 4.0 have no default limit. */
const deliveryLimit = 5;
/** The limit for the retry queue: 1, because a lost connection also counts as a failed delivery. */
const retryDeliveryLimit = 1;
/**
 * The default maximum length of a queue, in events. If it is reached, publishing fails and the outbox keeps
 * the events.
 */
const defaultMaxLength = 1_000_000;
/** The limit for dead letters. Listing them requeues them, and brokers from 4.0 on drop messages after 20 times. */
const deadLetterDeliveryLimit = 1_000_000_000;

/**
 * Declares the topology. Returns the names, without prefix, of the queues that did not exist before. Rejects with 406
 * if a queue exists with other arguments: such a change needs a queue with a new name, and the old queue must be
 * drained.
 */
export async function declareTopology(
  model: ChannelModel,
  topology: Topology,
  names: Names,
  maxLength = defaultMaxLength,
): Promise<string[]> {
  const missing = [];
  for (const name of topology.keys()) if (!(await queueExists(model, names.queue(name)))) missing.push(name);
  const channel = await openChannel(model);
  await channel.assertExchange(names.exchange, 'topic');
  await channel.assertExchange(names.queueExchange, 'topic');
  await channel.assertExchange(names.deadLetterExchange, 'direct');
  for (const [name, types] of topology) {
    // dead letters first: without a target queue, RabbitMQ would hold a failed event back
    await channel.assertQueue(names.dead(name), {
      arguments: { 'x-queue-type': 'quorum', 'x-delivery-limit': deadLetterDeliveryLimit },
    });
    await channel.bindQueue(names.dead(name), names.deadLetterExchange, `${name}.dead`);
    await channel.assertQueue(
      names.retry(name),
      deadLetterOptions(names, `${name}.dead`, retryDeliveryLimit),
    );
    await channel.bindQueue(names.retry(name), names.deadLetterExchange, name);
    await channel.assertQueue(names.queue(name), {
      maxLength,
      ...deadLetterOptions(names, name, deliveryLimit),
    });
    for (const type of types) await channel.bindQueue(names.queue(name), names.queueExchange, type);
  }
  await channel.bindExchange(names.queueExchange, names.exchange, '#');
  await closeChannel(channel);
  return missing;
}

/** Returns the options of a queue that dead-letters rejected and too often delivered events under a routing key. */
function deadLetterOptions({ deadLetterExchange }: Names, deadLetterRoutingKey: string, limit: number) {
  return {
    overflow: 'reject-publish',
    deadLetterExchange,
    deadLetterRoutingKey,
    arguments: {
      'x-queue-type': 'quorum',
      'x-delivery-limit': limit,
      'x-dead-letter-strategy': 'at-least-once',
    },
  } as const;
}

/** Whether a queue exists. */
export async function queueExists(model: ChannelModel, queue: string): Promise<boolean> {
  // checking a queue that does not exist closes the channel
  const channel = await openChannel(model);
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

/**
 * Handles what arrives in a queue, over one channel.
 *
 * An event that kills its process takes the delivery counts of everything in hand with it. So a channel begins with one
 * event in hand, takes as many as it may once a fresh one has come, and goes back to one as soon as it gets anything
 * that was delivered before; such events are handled one after the other.
 */
import type { Channel, ChannelModel, ConsumeMessage } from 'amqplib';
import type { Envelope } from '#libs/contract';
import { quietChannel } from './connection.ts';
import { within } from './reconnecting.ts';

/** How long a channel may take to say goodbye, ms. */
const closeMs = 2_000;

/** What a subscription needs. */
export interface Subscription {
  queue: string;
  prefetch: number;
  /** Whether a message is handled at all; without it, all are. Those that are not are set aside as they are. */
  accepts?(message: ConsumeMessage): boolean;
  /** Handles an event, with all its tries; rejects when it is to be set aside. */
  handle(event: Envelope): Promise<void>;
  /** Told of each event that was not handled for good. */
  onDeadLetter?(event: { readonly type?: unknown }): void;
  /** Aborted when the bus closes: what fails from then on is given back. */
  signal: AbortSignal;
  onError(what: string, error: unknown): void;
}

/** A running subscription. */
export interface ActiveSubscription {
  /** Resolves with the reason when the broker has ended it. */
  lost: Promise<unknown>;
  /** Takes nothing more; resolves when what is in hand is handled. */
  drain(): Promise<void>;
  /** Closes the channel: what is not acknowledged goes back into the queue. */
  close(): Promise<void>;
}

/** Subscribes to a queue; rejects when it is not there. */
export async function subscribe(
  model: ChannelModel,
  subscription: Subscription,
): Promise<ActiveSubscription> {
  const channel = await quietChannel(model);
  const { promise: lost, resolve: onLost } = Promise.withResolvers<unknown>();
  const inFlight = new Set<Promise<void>>();
  let lastRedelivered = Promise.resolve();
  let redeliveredCount = 0;
  let isOpen = true;
  let draining = false;
  channel.on('error', onLost);
  channel.on('close', () => {
    isOpen = false;
    onLost(new Error('the channel was closed'));
  });

  const extraConsumer = secondConsumer(channel, subscription, onMessage, onLost);
  await channel.prefetch(1);
  const { consumerTag } = await channel.consume(subscription.queue, onMessage);

  return {
    lost,
    async drain() {
      draining = true;
      if (isOpen) {
        const cancelled = Promise.all([channel.cancel(consumerTag), extraConsumer.close()]);
        await within(closeMs, subscription.queue, cancelled).catch(() => {});
      }
      await Promise.all(inFlight);
    },
    async close() {
      if (!isOpen) return;
      isOpen = false;
      await within(closeMs, subscription.queue, channel.close()).catch(() => {});
    },
  };

  function onMessage(message: ConsumeMessage | null): void {
    if (message === null) onLost(new Error('the broker cancelled the consumer'));
    // what comes too late goes back when the channel closes
    if (message === null || draining) return;
    const isRedelivered = message.fields.redelivered;
    if (isRedelivered) redeliveredCount += 1;
    const work = isRedelivered ? lastRedelivered.then(() => settle(message)) : settle(message);
    if (isRedelivered)
      lastRedelivered = work.then(() => {
        redeliveredCount -= 1;
      });
    inFlight.add(work);
    void work.then(() => inFlight.delete(work));
    if (redeliveredCount > 0) extraConsumer.stop();
    else extraConsumer.start();
  }

  /** Never rejects. */
  async function settle(message: ConsumeMessage): Promise<void> {
    if (!isOpen) return;
    if (subscription.accepts?.(message) === false) return respond(() => channel.reject(message, false));
    try {
      await subscription.handle(parseEvent(message.content));
    } catch (error) {
      if (subscription.signal.aborted) return;
      subscription.onError(`${subscription.queue} set an event aside`, error);
      subscription.onDeadLetter?.({ type: message.properties.type });
      respond(() => channel.reject(message, false));
      return;
    }
    respond(() => channel.ack(message));
  }

  /** On an old channel it is too late for an answer: the event comes again, and the inbox knows it. */
  function respond(send: () => void): void {
    try {
      if (isOpen) send();
    } catch (error) {
      onLost(error);
    }
  }
}

/** The second consumer of a channel, which is there while all is well; both together have `prefetch` events in hand. */
function secondConsumer(
  channel: Channel,
  { queue, prefetch }: Subscription,
  arrived: (message: ConsumeMessage | null) => void,
  lose: (why: unknown) => void,
) {
  let wanted = false;
  let tag: string | undefined;
  let changing: Promise<void> | undefined;

  const applyWanted = async () => {
    while (wanted !== (tag !== undefined)) {
      if (tag !== undefined) {
        const oldTag = tag;
        tag = undefined;
        await channel.cancel(oldTag);
      } else {
        await channel.prefetch(prefetch - 1);
        ({ consumerTag: tag } = await channel.consume(queue, arrived));
      }
    }
  };
  const setWanted = (to: boolean) => {
    if (prefetch < 2) return;
    wanted = to;
    changing ??= applyWanted()
      .catch(lose)
      .finally(() => {
        changing = undefined;
      });
  };
  return {
    start: () => setWanted(true),
    stop: () => setWanted(false),
    async close() {
      setWanted(false);
      await changing;
    },
  };
}

function parseEvent(content: Buffer): Envelope {
  const value: unknown = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(content));
  if (typeof value !== 'object' || value === null) throw new Error('This is no event');
  // whoever handles it checks the rest
  return value as Envelope;
}

/**
 * Consumes a queue over one channel.
 *
 * If an event kills its process, RabbitMQ counts a failed delivery for every event in flight. To spare the
 * others, a channel starts with a prefetch of 1 and raises it after the first fresh event. A redelivered
 * event lowers it to 1 again. Redelivered events are handled one at a time.
 */
import type { Channel, ChannelModel, ConsumeMessage } from 'amqplib';
import type { Envelope } from '#libs/contract';
import { openChannel } from './connection.ts';
import { within } from './reconnecting.ts';

/** The time limit for closing a channel, ms. */
const closeMs = 2_000;

/** Options of a subscription. */
export interface Subscription {
  queue: string;
  prefetch: number;
  /**
   * Whether to handle a message; all by default. Others are rejected to the dead-letter exchange unchanged.
   */
  accepts?(message: ConsumeMessage): boolean;
  /** Handles an event including retries. If it rejects, the event is dead-lettered. */
  handle(event: Envelope): Promise<void>;
  /** Called for each event whose handling failed on all attempts. */
  onDeadLetter?(event: { readonly type?: unknown }): void;
  /** Aborted when the bus closes: events that fail afterwards return to the queue. */
  signal: AbortSignal;
  onError(message: string, error: unknown): void;
}

/** A running subscription. */
export interface ActiveSubscription {
  /** Resolves with the reason when the subscription is lost. */
  lost: Promise<unknown>;
  /** Stops receiving events. Resolves when the events in flight are handled. */
  drain(): Promise<void>;
  /** Closes the channel: unacknowledged events return to the queue. */
  close(): Promise<void>;
}

/** Subscribes to a queue. Rejects if the queue does not exist. */
export async function subscribe(
  model: ChannelModel,
  subscription: Subscription,
): Promise<ActiveSubscription> {
  const channel = await openChannel(model);
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

  const extraConsumer = createSecondConsumer(channel, subscription, onMessage, onLost);
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
    // events that arrive while draining return to the queue when the channel closes
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

  /** Handles a message, then acknowledges or rejects it; never rejects. */
  async function settle(message: ConsumeMessage): Promise<void> {
    if (!isOpen) return;
    if (subscription.accepts?.(message) === false) return respond(() => channel.reject(message, false));
    try {
      await subscription.handle(parseEvent(message.content));
    } catch (error) {
      if (subscription.signal.aborted) return;
      subscription.onError(`Dead-lettered an event of ${subscription.queue}`, error);
      subscription.onDeadLetter?.({ type: message.properties.type });
      respond(() => channel.reject(message, false));
      return;
    }
    respond(() => channel.ack(message));
  }

  /**
   * Responds over an open channel. If it is closed, the event is redelivered and the inbox deduplicates it.
   */
  function respond(send: () => void): void {
    try {
      if (isOpen) send();
    } catch (error) {
      onLost(error);
    }
  }
}

/**
 * The second consumer of a channel, which raises the prefetch: both consumers together have `prefetch` events
 * in flight.
 */
function createSecondConsumer(
  channel: Channel,
  { queue, prefetch }: Subscription,
  onMessage: (message: ConsumeMessage | null) => void,
  onLost: (reason: unknown) => void,
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
        ({ consumerTag: tag } = await channel.consume(queue, onMessage));
      }
    }
  };
  const setWanted = (value: boolean) => {
    if (prefetch < 2) return;
    wanted = value;
    changing ??= applyWanted()
      .catch(onLost)
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
  if (typeof value !== 'object' || value === null) throw new Error('The message is not an event');
  // the handler validates the rest
  return value as Envelope;
}

/** Publishes events with publisher confirms: an event is published when the broker has confirmed it. */
import type { ConfirmChannel, Message } from 'amqplib';
import type { Envelope } from '#libs/contract';
import { BusDown, Unroutable } from '../bus.ts';
import { type Connection, responseTimeoutMs } from './connection.ts';

/** Publishes over one channel until the channel is lost. */
export interface Publisher {
  /**
   * Resolves when the broker has stored the event in every queue bound to its type. Errors: `Unroutable`;
   * `BusDown` if the channel is lost before that or the broker blocks publishing; another error if the broker
   * rejects the event (a queue is full) or confirms too late.
   */
  publish(event: Envelope): Promise<void>;
  /** Resolves with the reason when the channel is lost. */
  lost: Promise<unknown>;
}

/** Opens a channel with publisher confirms. */
export async function openPublisher(connection: Connection, exchange: string): Promise<Publisher> {
  const channel = await connection.model.createConfirmChannel();
  const { promise: lost, resolve: onLost } = Promise.withResolvers<unknown>();
  let isOpen = true;
  channel.on('error', onLost);
  channel.on('close', () => {
    isOpen = false;
    onLost(new Error('the channel was closed'));
  });
  // an unroutable message is returned, and then confirmed like any other
  const returned = new Set<string>();
  channel.on('return', ({ properties }: Message) => returned.add(String(properties.correlationId)));
  let count = 0;

  return {
    lost,
    async publish(event) {
      if (!isOpen) throw new BusDown();
      count += 1;
      const correlationId = String(count);
      const content = Buffer.from(JSON.stringify(event));
      const outcome = await publishConfirmed(channel, exchange, event, content, correlationId);
      const isReturned = returned.delete(correlationId);
      // the broker may still store this event when its alarm ends; consumers then ignore the second copy
      if (outcome === 'late' && connection.blocked) throw new BusDown();
      if (outcome === 'late') {
        const error = new Error(
          `The broker did not confirm ${event.type} within ${responseTimeoutMs / 1000} s`,
        );
        onLost(error);
        throw error;
      }
      if (outcome !== 'stored') throw isOpen ? rejectedError(event, outcome) : new BusDown();
      if (isReturned) throw new Unroutable(event.type);
    },
  };
}

function rejectedError(event: Envelope, cause: Error): Error {
  return new Error(`The broker rejected ${event.type}: a queue bound to it is full`, { cause });
}

function publishConfirmed(
  channel: ConfirmChannel,
  exchange: string,
  event: Envelope,
  content: Buffer,
  correlationId: string,
): Promise<'stored' | 'late' | Error> {
  const { promise, resolve, reject } = Promise.withResolvers<'stored' | 'late' | Error>();
  const timer = setTimeout(resolve, responseTimeoutMs, 'late');
  const options = {
    persistent: true,
    mandatory: true,
    contentType: 'application/json',
    type: event.type,
    correlationId,
    // an invalid event may have no id
    ...(typeof event.id === 'string' ? { messageId: event.id } : {}),
  };
  try {
    channel.publish(exchange, event.type, content, options, (error) => resolve(error ?? 'stored'));
  } catch (error) {
    reject(error);
  }
  return promise.finally(() => clearTimeout(timer));
}

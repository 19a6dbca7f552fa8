/**
 * The retry queue: gives an event another attempt if it was dead-lettered only because processes crashed.
 *
 * An event that crashes its process also raises the delivery counts of the other events in flight. A process
 * that has run for a while therefore consumes the retry queue one event at a time. Events that a handler
 * rejected become dead letters. Events over the delivery limit are handled once more, and become dead letters
 * if they fail again.
 */
import type { ConsumeMessage } from 'amqplib';
import type { Subscription } from './consumer.ts';

/**
 * How long a process must run before it consumes the retry queue, ms. A process that crashes on an event
 * exits sooner.
 */
export const defaultRetryQueueDelayMs = 5_000;

/** Creates the subscription to a retry queue from the subscription to its main queue. */
export function toRetrySubscription(subscription: Subscription, retryQueue: string): Subscription {
  return { ...subscription, queue: retryQueue, prefetch: 1, accepts: isOverDeliveryLimit };
}

function isOverDeliveryLimit({ properties }: ConsumeMessage): boolean {
  return properties.headers?.['x-first-death-reason'] === 'delivery_limit';
}

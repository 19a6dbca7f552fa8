/**
 * The second chance: an event that was set aside only because processes died with it in hand is handled once more.
 *
 * Whoever kills its process takes others with it. So what was set aside is looked at one by one, by a process that has
 * lived for a while: what was refused is dead; what nobody has refused is handled, and is dead if it fails again.
 */
import type { ConsumeMessage } from 'amqplib';
import type { Subscription } from './consumer.ts';

/** How long a process that dies of its events does not live, ms: until then it takes up nothing that was set aside. */
export const defaultRetryQueueDelayMs = 5_000;

/** The subscription to what a queue has set aside, made from the one to the queue itself. */
export function toRetrySubscription(subscription: Subscription, retryQueue: string): Subscription {
  return { ...subscription, queue: retryQueue, prefetch: 1, accepts: isOverDeliveryLimit };
}

function isOverDeliveryLimit({ properties }: ConsumeMessage): boolean {
  return properties.headers?.['x-first-death-reason'] === 'delivery_limit';
}

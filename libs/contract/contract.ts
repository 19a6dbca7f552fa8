/** A service contract: everything a service exposes to clients and to other services, as one value. */
import type { EventType } from './event.ts';
import type { Operation } from './operation.ts';
import type { View } from './view.ts';

/**
 * The operations, events, collections and views of a service. The API reference, the RabbitMQ topology and
 * the MongoDB grants are generated from it.
 */
export interface Contract {
  /** Lower-case words with dashes. Also the prefix of the service's outbox, inbox and queue. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly operations: readonly AnyOperation[];
  /** Operations for operators. They are served on the management port and are not in the public reference. */
  readonly adminOperations?: readonly AnyOperation[];
  /** Events that the service publishes. */
  readonly publishes: readonly EventType[];
  /** Events that the service consumes, from one queue named after the service. */
  readonly consumes: readonly EventType[];
  /** Collections that only this service may write. */
  readonly owns: readonly string[];
  /** Collections that only this service may write, and to which it only adds: no row is ever changed or removed. */
  readonly appends?: readonly string[];
  /** Views of its collections for other services. */
  readonly views: readonly View[];
  /** Views of other services that it reads. */
  readonly reads: readonly View[];
}

// biome-ignore lint/suspicious/noExplicitAny: a list holds operations of every type; each is typed where it is used
export type AnyOperation = Operation<any, any, any, any, any, any>;

/** Declares a contract. */
export function contract(options: Contract): Contract {
  return options;
}

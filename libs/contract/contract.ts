/** A service's contract: everything it shows to clients and to its neighbours, in one value. */
import type { EventType } from './event.ts';
import type { Operation } from './operation.ts';
import type { View } from './view.ts';

/** What a service offers, says, hears, owns and reads; reference, topology and grants are made from it. */
export interface Contract {
  /** Lower-case words with dashes; also the prefix of its outbox, inbox and queue. */
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly operations: readonly AnyOperation[];
  /** Operations for its operators: on the management port, never in the public reference. */
  readonly adminOperations?: readonly AnyOperation[];
  /** Events it says. */
  readonly publishes: readonly EventType[];
  /** Events it hears; they share one queue named after the service. */
  readonly consumes: readonly EventType[];
  /** Collections only it may write. */
  readonly owns: readonly string[];
  /** Faces of its collections for others. */
  readonly views: readonly View[];
  /** Views of others that it reads. */
  readonly reads: readonly View[];
}

// biome-ignore lint/suspicious/noExplicitAny: a list holds operations of every type; each is typed where it is used
export type AnyOperation = Operation<any, any, any, any, any>;

/** Declares a contract. */
export function contract(options: Contract): Contract {
  return options;
}

/** The bus: what every way of carrying events between services promises. */
import type { Envelope } from '#libs/contract';

/** Handles one event; a rejection is tried again with back-off, then the event is set aside. */
export type Handler = (event: Envelope, signal: AbortSignal) => Promise<void>;

/** How a queue is heard. */
export interface ConsumeOptions {
  /** Most events in hand at once. */
  prefetch: number;
  /** Told of each event that is given up; garbage has no type. */
  onDeadLetter?(event: { readonly type?: unknown }): void;
}

/** How many events there are in a queue and behind it. */
export interface Depth {
  /** In nobody's hands. */
  ready: number;
  /** Set aside, to be looked at once more. */
  retry: number;
  dead: number;
}

/** A running subscription to one queue. */
export interface Consumer {
  /** Takes no more events and resolves once those in hand are handled or given back. */
  cancel(): Promise<void>;
}

/** Carries events at least once, in no promised order. */
export interface Bus {
  /** Value of the span attribute `messaging.system` (OpenTelemetry semantic conventions). */
  readonly messagingSystem: 'rabbitmq' | 'in_memory';
  /**
   * Resolves once the bus has taken responsibility for the event.
   * Errors: `Unroutable` when no queue wants its type, `BusDown` while nothing can be carried, `BusClosed`, `DeadLettered`
   * (in-process bus only).
   */
  publish(event: Envelope): Promise<void>;
  /** Handles what arrives in a queue. */
  consume(queue: string, handler: Handler, hearing: ConsumeOptions): Promise<Consumer>;
  /** Counts what is in a queue; rejects while that cannot be found out. */
  depth(queue: string): Promise<Depth>;
  /** The events of a queue that were set aside, oldest first. */
  dead(queue: string): Promise<Envelope[]>;
  /** Whether events can be carried right now. */
  readonly up: boolean;
  close(): Promise<void>;
}

/** No queue wants this type of event. */
export class Unroutable extends Error {
  constructor(type: string) {
    super(`No queue wants ${type}`);
    this.name = 'Unroutable';
  }
}

/** Nothing can be carried right now: publish again when the bus is up. */
export class BusDown extends Error {
  constructor() {
    super('The event bus is down');
    this.name = 'BusDown';
  }
}

/** The bus is closed, or closed before the event was taken care of. */
export class BusClosed extends Error {
  constructor() {
    super('The event bus is closed');
    this.name = 'BusClosed';
  }
}

/** A handler failed for good, so the event was set aside. */
export class DeadLettered extends Error {
  constructor(queue: string, cause: unknown) {
    super(`${queue} set the event aside`, { cause });
    this.name = 'DeadLettered';
  }
}

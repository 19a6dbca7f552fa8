/** The event bus: the interface that both implementations (in-process and RabbitMQ) share. */
import type { Envelope } from '#libs/contract';

/** Handles one event. If it rejects, the bus tries again with backoff, then dead-letters the event. */
export type Handler = (event: Envelope, signal: AbortSignal) => Promise<void>;

/** Options for consuming a queue. */
export interface ConsumeOptions {
  /** The maximum number of events in flight. */
  prefetch: number;
  /** Called for each dead-lettered event. `type` is missing if the message is not a valid event. */
  onDeadLetter?(event: { readonly type?: unknown }): void;
}

/** The number of events in a queue, its retry queue and its dead letters. */
export interface Depth {
  /** Events in the queue that no consumer has received. */
  ready: number;
  /** Events in the retry queue. */
  retry: number;
  /** Dead letters. */
  dead: number;
}

/** A running subscription to one queue. */
export interface Consumer {
  /** Stops receiving events. Resolves when the events in flight are handled or returned to the queue. */
  cancel(): Promise<void>;
}

/** Delivers events at least once, without a guaranteed order. */
export interface Bus {
  /** Value of the span attribute `messaging.system` (OpenTelemetry semantic conventions). */
  readonly messagingSystem: 'rabbitmq' | 'in_memory';
  /**
   * Resolves when the bus is responsible for the event. Errors: `Unroutable` if no queue is bound to its
   * type, `BusDown` while the bus cannot publish, `BusClosed`, `DeadLettered` (in-process bus only).
   */
  publish(event: Envelope): Promise<void>;
  /** Handles the events of a queue. Errors: `BusClosed`, or an error if the queue does not exist. */
  consume(queue: string, handler: Handler, options: ConsumeOptions): Promise<Consumer>;
  /** Counts the events of a queue. Rejects while the bus cannot count them. */
  depth(queue: string): Promise<Depth>;
  /** Lists the dead letters of a queue, oldest first, without removing them. */
  dead(queue: string): Promise<Envelope[]>;
  /** Whether the bus can deliver events now. */
  readonly up: boolean;
  /** Stops all consumers and closes the bus. */
  close(): Promise<void>;
}

/** No queue is bound to the event's type. */
export class Unroutable extends Error {
  constructor(type: string) {
    super(`No queue is bound to ${type}`);
    this.name = 'Unroutable';
  }
}

/** The bus cannot publish now. Publish again when it is up. */
export class BusDown extends Error {
  constructor() {
    super('The event bus is down');
    this.name = 'BusDown';
  }
}

/** The bus is closed, or was closed before the event was handled. */
export class BusClosed extends Error {
  constructor() {
    super('The event bus is closed');
    this.name = 'BusClosed';
  }
}

/** A handler failed on all attempts, so the event was dead-lettered. */
export class DeadLettered extends Error {
  constructor(queue: string, cause: unknown) {
    super(`${queue} dead-lettered the event`, { cause });
    this.name = 'DeadLettered';
  }
}

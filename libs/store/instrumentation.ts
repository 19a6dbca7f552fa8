/** Instrumentation: reports MongoDB commands, published events and connection use. */
import type mongoose from 'mongoose';
import type { EndedCommand } from './driver-command-times.ts';

/** A finished MongoDB command. */
export interface Command {
  /** E.g. `find`. */
  readonly name: string;
  readonly collection: string | undefined;
  readonly isFailed: boolean;
  /** The time of `performance.now()`, ms. */
  readonly startedAt: number;
  readonly durationMs: number;
}

/** Callbacks that receive measurements. */
export interface StoreInstrumentation {
  /** Called after each command, in the async context that sent it. */
  command(command: Command): void;
  /**
   * Called after a commit with the number of events written to the outbox, in the async context of the
   * change.
   */
  eventsPublished(count: number): void;
  /** Called with the time that a command waited for a connection, ms. */
  connectionWaited(ms: number): void;
}

/** The number of connections to all servers. */
export interface Connections {
  readonly inUse: number;
  readonly idle: number;
  /** Requests that wait for a connection. */
  readonly waiting: number;
}

/** Reports a client's commands and connection waits from now on. */
export function instrument(
  client: mongoose.mongo.MongoClient,
  { command, connectionWaited }: Pick<StoreInstrumentation, 'command' | 'connectionWaited'>,
): void {
  // driver-command-times.ts emits its own data under the names of the driver's events
  const report = (isFailed: boolean) => (ended: unknown) => command({ ...(ended as EndedCommand), isFailed });
  client.on('commandSucceeded', report(false));
  client.on('commandFailed', report(true));
  client.on('connectionCheckedOut', ({ durationMS }) => connectionWaited(durationMS));
}

/** The connections of a client to one server. */
interface Pool {
  readonly currentCheckedOutCount: number;
  readonly availableConnectionCount: number;
  readonly waitQueueSize: number;
}

/** Counts a client's current connections. */
export function countConnections(client: object): Connections {
  // the driver has no public function that counts them
  const { topology } = client as { topology?: { s: { servers: Map<string, { pool: Pool }> } } };
  const pools = [...(topology?.s.servers.values() ?? [])].map(({ pool }) => pool);
  const sum = (count: (pool: Pool) => number) => pools.reduce((total, pool) => total + count(pool), 0);
  return {
    inUse: sum((pool) => pool.currentCheckedOutCount),
    idle: sum((pool) => pool.availableConnectionCount),
    waiting: sum((pool) => pool.waitQueueSize),
  };
}

/** Watching: what is told of commands to MongoDB, and of the connections that they need. */
import type mongoose from 'mongoose';
import { type CommandEnded, getPools } from './driver.ts';

/** A command that has ended. */
export interface Command {
  /** E.g. `find`. */
  readonly name: string;
  readonly collection: string | undefined;
  readonly isFailed: boolean;
  /** On the clock of `performance`, ms. */
  readonly startedAt: number;
  readonly durationMs: number;
}

/** Who watches. */
export interface StoreInstrumentation {
  /** Told of each command, within the work that sent it. */
  command(command: Command): void;
  /** Told of events that were said, within the work that said them, once they are committed. */
  eventsPublished(count: number): void;
  /** How long work waited for a connection, ms. */
  connectionWaited(ms: number): void;
}

/** Connections, over all servers. */
export interface Connections {
  readonly inUse: number;
  readonly idle: number;
  /** How many wait for one. */
  readonly waiting: number;
}

/** Has what happens on a client's connections told from now on. */
export function instrument(
  client: mongoose.mongo.MongoClient,
  { command, connectionWaited }: Pick<StoreInstrumentation, 'command' | 'connectionWaited'>,
): void {
  const report = (isFailed: boolean) => (options: unknown) => {
    // what driver.ts sends, under the names of the driver's own events
    const { commandName: name, collection, startedAt, duration: durationMs } = options as CommandEnded;
    command({ name, collection, isFailed, startedAt, durationMs });
  };
  client.on('commandSucceeded', report(false));
  client.on('commandFailed', report(true));
  client.on('connectionCheckedOut', ({ durationMS }) => connectionWaited(durationMS));
}

/** The connections of a client at this moment. */
export function countConnections(client: mongoose.mongo.MongoClient): Connections {
  const pools = getPools(client);
  const sum = (options: (pool: (typeof pools)[number]) => number) =>
    pools.reduce((all, pool) => all + options(pool), 0);
  return {
    inUse: sum((pool) => pool.currentCheckedOutCount),
    idle: sum((pool) => pool.availableConnectionCount),
    waiting: sum((pool) => pool.waitQueueSize),
  };
}

/** The topology: one queue for each service that consumes events, derived from the contracts. */
import type { Contract } from '#libs/contract';

/** Maps a queue name to the event types bound to the queue. */
export type Topology = ReadonlyMap<string, readonly string[]>;

/** Derives the topology of all services. A service's queue has the service's name. */
export function toTopology(contracts: readonly Contract[]): Topology {
  const consuming = contracts.filter((contract) => contract.consumes.length > 0);
  return new Map(consuming.map((contract) => [contract.name, contract.consumes.map((event) => event.name)]));
}

/** Gets the names of the queues that are bound to an event type. */
export function getConsumers(topology: Topology, type: string): string[] {
  return [...topology].filter(([, types]) => types.includes(type)).map(([queue]) => queue);
}

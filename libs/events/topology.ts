/** Who hears what: one queue for each service that hears anything, made from the contracts. */
import type { Contract } from '#libs/contract';

/** Queue name → the event types bound to it. */
export type Topology = ReadonlyMap<string, readonly string[]>;

/** The whole topology; a service's queue has the service's name. */
export function toTopology(contracts: readonly Contract[]): Topology {
  const consuming = contracts.filter((contract) => contract.consumes.length > 0);
  return new Map(consuming.map((contract) => [contract.name, contract.consumes.map((event) => event.name)]));
}

/** The queues that want a type of event. */
export function getConsumers(topology: Topology, type: string): string[] {
  return [...topology].filter(([, types]) => types.includes(type)).map(([queue]) => queue);
}

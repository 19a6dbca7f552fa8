/** The door of the events library: one bus interface, who hears what, and how a handler's trouble is met. */
export { type Bus, BusClosed, type Consumer, type Handler, Poisoned, Unroutable } from './bus.ts';
export { type Listener, listener, on } from './listener.ts';
export { memoryBus } from './memory-bus.ts';
export { Hopeless, type Retries, standardRetries } from './retries.ts';
export { consumersOf, type Topology, topologyOf } from './topology.ts';

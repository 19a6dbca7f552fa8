/** The door of the events library: one bus interface, who hears what, and how a handler's trouble is met. */
export { type AmqpBus, amqpBus } from './amqp/amqp-bus.ts';
export { type DeadLetters, openDeadLetters } from './amqp/replaying.ts';
export {
  type Bus,
  BusClosed,
  BusDown,
  type Consumer,
  type Depth,
  type Handler,
  type Hearing,
  Poisoned,
  Unroutable,
} from './bus.ts';
export { type Listener, listener, on } from './listener.ts';
export { memoryBus } from './memory-bus.ts';
export { Hopeless, NotNow, type Retries, standardRetries } from './retries.ts';
export { consumersOf, type Topology, topologyOf } from './topology.ts';

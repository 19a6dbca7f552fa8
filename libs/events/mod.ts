/** The public interface of the events library: the bus, its topology, subscribers and retries. */
export { type AmqpBusOptions, amqpBus } from './amqp/amqp-bus.ts';
export { type DeadLetters, openDeadLetters } from './amqp/replay.ts';
export {
  type Bus,
  BusClosed,
  BusDown,
  type ConsumeOptions,
  type Consumer,
  DeadLettered,
  type Depth,
  type Handler,
  Unroutable,
} from './bus.ts';
export { memoryBus } from './memory-bus.ts';
export { DependencyUnavailable, type Retries, standardRetries, UnrecoverableError } from './retries.ts';
export { dispatchByType, on, type Subscriber } from './subscriber.ts';
export { getConsumers, type Topology, toTopology } from './topology.ts';

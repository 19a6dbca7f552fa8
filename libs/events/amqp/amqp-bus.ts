/**
 * The event bus over RabbitMQ, for services in separate processes.
 *
 * It publishes and consumes over two connections, because RabbitMQ may block a publishing connection. Both
 * reconnect when they are lost, and each declares the whole topology first.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { ChannelModel } from 'amqplib';
import type { Secret } from '#libs/contract';
import { type Bus, BusClosed, BusDown, Unroutable } from '../bus.ts';
import { type Retries, standardRetries, tryHandling } from '../retries.ts';
import { getConsumers, type Topology } from '../topology.ts';
import { detectBrokerReset } from './broker-reset.ts';
import { type Connection, openConnection } from './connection.ts';
import { type ActiveSubscription, type Subscription, subscribe } from './consumer.ts';
import { countMessages, peekDeadLetters } from './dead-letters.ts';
import { openPublisher, type Publisher } from './publisher.ts';
import { type AutoReconnect, abortable, autoReconnect } from './reconnecting.ts';
import { defaultRetryQueueDelayMs, toRetrySubscription } from './retry-queue.ts';
import { declareTopology, prefixedNames } from './topology-setup.ts';

/** Options of the bus over RabbitMQ. */
export interface AmqpBusOptions {
  url: Secret;
  topology: Topology;
  retries?: Retries;
  /** The prefix of every name on the broker. */
  prefix?: string;
  /** The maximum length of a queue, in events. Existing queues keep the length they were declared with. */
  maxLength?: number;
  /** How long a subscription must be running before it consumes the retry queue, ms. */
  retryQueueDelayMs?: number;
  /** How often the topology is declared again, ms. A deleted binding is missing for at most this long. */
  declareEveryMs?: number;
  /** The names of the services that have an outbox; each has its own sentinel queue. */
  owners?: readonly string[];
  /** Called when the broker has lost its queues. If it rejects, it is called again later. */
  onBrokerReset?(): Promise<void>;
  onError(message: string, error: unknown): void;
}

const defaultDeclareEveryMs = 60_000;

/**
 * Creates a bus over RabbitMQ (3.10 or newer). It connects in the background and is `up` while it can
 * publish.
 */
export function amqpBus({
  url,
  topology,
  retries = standardRetries,
  onError,
  owners = [],
  onBrokerReset,
  retryQueueDelayMs = defaultRetryQueueDelayMs,
  declareEveryMs = defaultDeclareEveryMs,
  prefix,
  maxLength,
}: AmqpBusOptions): Bus {
  const names = prefixedNames(prefix ?? '');
  const abortController = new AbortController();
  const pendingPublishes = new Set<Promise<void>>();
  const consumers = new Set<{ cancel(): Promise<void> }>();
  const resetDetector = detectBrokerReset({ names, owners, onBrokerReset, onError });
  let lastDeclaration: Promise<unknown> = Promise.resolve();
  let closing: Promise<void> | undefined;

  /**
   * Declares the topology, one connection at a time: two clients that declare a new quorum queue at once get
   * error 541. Between processes, the one that fails reconnects and finds the queue.
   */
  const prepare = (model: ChannelModel) => {
    const declaration = lastDeclaration.then(async () =>
      resetDetector.onDeclared(await declareTopology(model, topology, names, maxLength)),
    );
    lastDeclaration = declaration.catch(() => {});
    return declaration;
  };
  const consumerConnection = autoReconnect<Connection>({
    name: 'RabbitMQ consumer connection',
    onError,
    async open(signal) {
      const opened = await openConnection({ url, name: 'pds-consumer', prepare, onError, signal });
      void resetDetector.check(opened.value);
      return opened;
    },
  });
  const publisherConnection = autoReconnect<{ connection: Connection; publisher: Publisher }>({
    name: 'RabbitMQ publisher connection',
    onError,
    async open(signal) {
      const opened = await openConnection({ url, name: 'pds-publisher', prepare, onError, signal });
      const { value: connection, close } = opened;
      const publisher = await openPublisher(connection, names.exchange).catch(async (error: unknown) => {
        await close();
        throw error;
      });
      // checks over the consumer connection, which RabbitMQ never blocks
      if (consumerConnection.current) void resetDetector.check(consumerConnection.current);
      return { value: { connection, publisher }, lost: Promise.race([opened.lost, publisher.lost]), close };
    },
  });
  // a missing binding goes unnoticed while another queue takes the event, so the topology is declared again
  // regularly
  const declareTimer = setInterval(() => {
    const { current } = consumerConnection;
    const reopen = (error: unknown) =>
      consumerConnection.current === current && consumerConnection.reopen(error);
    if (current) prepare(current.model).catch(reopen);
  }, declareEveryMs);
  declareTimer.unref();

  const getQueueName = (queue: string) => {
    if (!topology.has(queue)) throw new Error(`Unknown queue: ${queue}`);
    return names.queue(queue);
  };
  const bus: Bus = {
    messagingSystem: 'rabbitmq',
    get up() {
      return (
        !abortController.signal.aborted &&
        publisherConnection.current?.connection.blocked === false &&
        consumerConnection.current !== undefined
      );
    },
    async publish(event) {
      if (abortController.signal.aborted) throw new BusClosed();
      const { current } = publisherConnection;
      if (!current || current.connection.blocked) throw new BusDown();
      const work = current.publisher.publish(event);
      pendingPublishes.add(work);
      try {
        await work;
      } catch (error) {
        // a binding was deleted: reopening declares it again
        if (error instanceof Unroutable && getConsumers(topology, event.type).length > 0)
          publisherConnection.reopen(error);
        throw error;
      } finally {
        pendingPublishes.delete(work);
      }
    },
    async consume(queue, handler, { prefetch, onDeadLetter }) {
      if (abortController.signal.aborted) throw new BusClosed();
      const { signal } = abortController;
      const handle = (event: Parameters<typeof handler>[0]) => tryHandling(handler, event, retries, signal);
      const subscription: Subscription = {
        ...{ queue: getQueueName(queue), prefetch, handle, signal, onError },
        ...(onDeadLetter && { onDeadLetter }),
      };
      const retrySubscription = toRetrySubscription(subscription, names.retry(queue));
      const subscriptions = [
        keepSubscribed(consumerConnection, subscription, 0),
        keepSubscribed(consumerConnection, retrySubscription, retryQueueDelayMs),
      ];
      const consumer = {
        async cancel() {
          consumers.delete(consumer);
          await Promise.all(subscriptions.map(({ close }) => close()));
        },
      };
      consumers.add(consumer);
      return consumer;
    },
    async depth(queue) {
      if (!consumerConnection.current) throw new BusDown();
      const { model } = consumerConnection.current;
      return countMessages(model, getQueueName(queue), names.retry(queue), names.dead(queue));
    },
    async dead(queue) {
      getQueueName(queue);
      if (!consumerConnection.current) throw new BusDown();
      return (await peekDeadLetters(consumerConnection.current.model, names.dead(queue))).events;
    },
    close: () => (closing ??= close()),
  };
  return bus;

  async function close(): Promise<void> {
    abortController.abort(new BusClosed());
    clearInterval(declareTimer);
    await Promise.all([...consumers].map((consumer) => consumer.cancel()));
    await Promise.allSettled(pendingPublishes);
    await Promise.all([consumerConnection.close(), publisherConnection.close()]);
  }
}

/**
 * Subscribes after `delayMs`, and again whenever the subscription is lost. Closing waits for the events in
 * flight, including those of lost channels.
 */
function keepSubscribed(
  connections: AutoReconnect<Connection>,
  subscription: Subscription,
  delayMs: number,
): Pick<AutoReconnect<ActiveSubscription>, 'close'> {
  const draining = new Set<Promise<void>>();
  const reconnecting = autoReconnect<ActiveSubscription>({
    name: `Subscription to ${subscription.queue}`,
    onError: subscription.onError,
    async open(signal) {
      await pause(delayMs, undefined, { signal });
      const close = async (opened: ActiveSubscription) => {
        const drained = opened.drain();
        draining.add(drained);
        void drained.then(() => draining.delete(drained));
        // a lost channel need not drain first: its events are redelivered
        if (signal.aborted) await drained;
        await opened.close();
      };
      const { model } = await abortable(signal, connections.whenOpen());
      const subscribing = subscribe(model, subscription).catch((error: unknown) => {
        // the queue was deleted: reopening declares it again
        connections.reopen(error);
        throw error;
      });
      const value = await abortable(signal, subscribing).catch((error: unknown) => {
        // closes a subscription that a slow broker confirms too late
        subscribing.then(close, () => {});
        throw error;
      });
      return { value, lost: value.lost, close: () => close(value) };
    },
  });
  return {
    async close() {
      await reconnecting.close();
      await Promise.all(draining);
    },
  };
}

/**
 * The bus over RabbitMQ: carries events between processes.
 *
 * Two connections, so that a broker which stops taking publications goes on delivering. Both are opened again whenever
 * they are lost, and each declares the whole topology first.
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
import { type AutoReconnect, autoReconnect } from './reconnecting.ts';
import { defaultRetryQueueDelayMs, toRetrySubscription } from './retry-queue.ts';
import { declareTopology, prefixedNames } from './topology-setup.ts';

/** What the bus needs. */
export interface AmqpBusOptions {
  url: Secret;
  topology: Topology;
  retries?: Retries;
  /** Put before every name on the broker. */
  prefix?: string;
  /** The longest a queue may be; a queue that is there keeps the length it was made with. */
  maxLength?: number;
  /** How long a subscription lives before it takes up what was set aside because processes died, ms. */
  retryQueueDelayMs?: number;
  /** How often everything is declared again, ms: so long a binding may be missing that somebody has taken away. */
  declareEveryMs?: number;
  /** Who must be told, each by a name of its own, when the broker has lost what it was given: the services with an outbox. */
  owners?: readonly string[];
  /** Told when the broker came back empty; it is told again later when it rejects. */
  onBrokerReset?(): Promise<void>;
  onError(what: string, error: unknown): void;
}

const defaultDeclareEveryMs = 60_000;

/** A bus over RabbitMQ (3.10 or newer). It connects by itself, and is `up` while it can publish. */
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

  /** One after the other: two clients that make a new quorum queue at once get 541 (the loser opens again, and finds it). */
  const prepare = (model: ChannelModel) => {
    const declaration = lastDeclaration.then(async () =>
      resetDetector.onDeclared(await declareTopology(model, topology, names, maxLength)),
    );
    lastDeclaration = declaration.catch(() => {});
    return declaration;
  };
  const consumerConnection = autoReconnect<Connection>({
    name: 'The connection that hears events',
    onError,
    async open(signal) {
      const opened = await openConnection({ url, name: 'pds-consumer', prepare, onError, signal });
      void resetDetector.check(opened.value);
      return opened;
    },
  });
  const publisherConnection = autoReconnect<{ connection: Connection; publisher: Publisher }>({
    name: 'The connection that says events',
    onError,
    async open(signal) {
      const opened = await openConnection({ url, name: 'pds-publisher', prepare, onError, signal });
      const { value: connection, close } = opened;
      const publisher = await openPublisher(connection, names.exchange).catch(async (error: unknown) => {
        await close();
        throw error;
      });
      // what had to be made here is looked at over the connection that is never blocked
      if (consumerConnection.current) void resetDetector.check(consumerConnection.current);
      return { value: { connection, publisher }, lost: Promise.race([opened.lost, publisher.lost]), close };
    },
  });
  // an event that one of its queues is not bound to is no less taken by the others: the broker does not say that it is missing
  const declareTimer = setInterval(() => {
    const { current } = consumerConnection;
    const reopen = (error: unknown) =>
      consumerConnection.current === current && consumerConnection.reopen(error);
    if (current) prepare(current.model).catch(reopen);
  }, declareEveryMs);
  declareTimer.unref();

  const getQueueName = (queue: string) => {
    if (!topology.has(queue)) throw new Error(`There is no queue ${queue}`);
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
        // somebody has taken a binding away
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
          await Promise.all(subscriptions.map((one) => one.close()));
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
      return peekDeadLetters(consumerConnection.current.model, names.dead(queue));
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
 * A subscription that is begun when it was calm for some ms, and again whenever it is lost; closing it waits for what is
 * in hand, also of lost channels.
 */
function keepSubscribed(
  connections: AutoReconnect<Connection>,
  subscription: Subscription,
  calmMs: number,
): Pick<AutoReconnect<ActiveSubscription>, 'close'> {
  const draining = new Set<Promise<void>>();
  const subscriptions = autoReconnect<ActiveSubscription>({
    name: `The subscription to ${subscription.queue}`,
    onError: subscription.onError,
    async open(signal) {
      await pause(calmMs, undefined, { signal });
      const aborted = new Promise<never>((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
      });
      const { model } = await Promise.race([connections.whenOpen(), aborted]);
      const value = await subscribe(model, subscription).catch((error: unknown) => {
        // the queue is not there: somebody has taken it away
        connections.reopen(error);
        throw error;
      });
      const end = async () => {
        const drained = value.drain();
        draining.add(drained);
        void drained.then(() => draining.delete(drained));
        // a lost one has nothing to wait for: its events come again
        if (signal.aborted) await drained;
        await value.close();
      };
      return { value, lost: value.lost, close: end };
    },
  });
  return {
    async close() {
      await subscriptions.close();
      await Promise.all(draining);
    },
  };
}

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
import { type Subscribed, type Subscription, subscribe } from './consumer.ts';
import { counted, peeked } from './dead-letters.ts';
import { openPublisher, type Publisher } from './publisher.ts';
import { type AutoReconnect, autoReconnect } from './reconnecting.ts';
import { retryQueue, usualCalmMs } from './retry-queue.ts';
import { declare, prefixedNames } from './topology-setup.ts';

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

const usualDeclareEveryMs = 60_000;

/** A bus over RabbitMQ (3.10 or newer). It connects by itself, and is `up` while it can publish. */
export function amqpBus({
  url,
  topology,
  retries = standardRetries,
  onError,
  owners = [],
  onBrokerReset,
  retryQueueDelayMs = usualCalmMs,
  declareEveryMs = usualDeclareEveryMs,
  prefix,
  maxLength,
}: AmqpBusOptions): Bus {
  const names = prefixedNames(prefix ?? '');
  const closing = new AbortController();
  const publishing = new Set<Promise<void>>();
  const consumers = new Set<{ cancel(): Promise<void> }>();
  const knowledge = detectBrokerReset({ names, owners, onBrokerReset, onError });
  let declaring: Promise<unknown> = Promise.resolve();
  let closed: Promise<void> | undefined;

  /** One after the other: two clients that make a new quorum queue at once get 541 (the loser opens again, and finds it). */
  const prepare = (model: ChannelModel) => {
    const mine = declaring.then(async () =>
      knowledge.declared(await declare(model, topology, names, maxLength)),
    );
    declaring = mine.catch(() => {});
    return mine;
  };
  const hearing = autoReconnect<Connection>({
    name: 'The connection that hears events',
    onError,
    async open(signal) {
      const opened = await openConnection({ url, name: 'pds-consumer', prepare, onError, signal });
      void knowledge.check(opened.value);
      return opened;
    },
  });
  const saying = autoReconnect<{ connection: Connection; publisher: Publisher }>({
    name: 'The connection that says events',
    onError,
    async open(signal) {
      const opened = await openConnection({ url, name: 'pds-publisher', prepare, onError, signal });
      const { value: connection, end } = opened;
      const publisher = await openPublisher(connection, names.exchange).catch(async (error: unknown) => {
        await end();
        throw error;
      });
      // what had to be made here is looked at over the connection that is never blocked
      if (hearing.now) void knowledge.check(hearing.now);
      return { value: { connection, publisher }, lost: Promise.race([opened.lost, publisher.lost]), end };
    },
  });
  // an event that one of its queues is not bound to is no less taken by the others: the broker does not say that it is missing
  const declaringAgain = setInterval(() => {
    const { now } = hearing;
    const troubled = (error: unknown) => hearing.now === now && hearing.renew(error);
    if (now) prepare(now.model).catch(troubled);
  }, declareEveryMs);
  declaringAgain.unref();

  const queueOf = (queue: string) => {
    if (!topology.has(queue)) throw new Error(`There is no queue ${queue}`);
    return names.queue(queue);
  };
  const bus: Bus = {
    messagingSystem: 'rabbitmq',
    get up() {
      return !closing.signal.aborted && saying.now?.connection.blocked === false && hearing.now !== undefined;
    },
    async publish(event) {
      if (closing.signal.aborted) throw new BusClosed();
      const { now } = saying;
      if (!now || now.connection.blocked) throw new BusDown();
      const work = now.publisher.publish(event);
      publishing.add(work);
      try {
        await work;
      } catch (error) {
        // somebody has taken a binding away
        if (error instanceof Unroutable && getConsumers(topology, event.type).length > 0) saying.renew(error);
        throw error;
      } finally {
        publishing.delete(work);
      }
    },
    async consume(queue, handler, { prefetch, onDeadLetter }) {
      if (closing.signal.aborted) throw new BusClosed();
      const { signal } = closing;
      const handle = (event: Parameters<typeof handler>[0]) => tryHandling(handler, event, retries, signal);
      const first: Subscription = {
        ...{ queue: queueOf(queue), prefetch, handle, signal, onError },
        ...(onDeadLetter && { onDeadLetter }),
      };
      const again = retryQueue(first, names.retry(queue));
      const kept = [consuming(hearing, first, 0), consuming(hearing, again, retryQueueDelayMs)];
      const consumer = {
        async cancel() {
          consumers.delete(consumer);
          await Promise.all(kept.map((one) => one.close()));
        },
      };
      consumers.add(consumer);
      return consumer;
    },
    async depth(queue) {
      if (!hearing.now) throw new BusDown();
      const { model } = hearing.now;
      return counted(model, queueOf(queue), names.retry(queue), names.dead(queue));
    },
    async dead(queue) {
      queueOf(queue);
      if (!hearing.now) throw new BusDown();
      return peeked(hearing.now.model, names.dead(queue));
    },
    close: () => (closed ??= close()),
  };
  return bus;

  async function close(): Promise<void> {
    closing.abort(new BusClosed());
    clearInterval(declaringAgain);
    await Promise.all([...consumers].map((consumer) => consumer.cancel()));
    await Promise.allSettled(publishing);
    await Promise.all([hearing.close(), saying.close()]);
  }
}

/**
 * A subscription that is begun when it was calm for some ms, and again whenever it is lost; closing it waits for what is
 * in hand, also of lost channels.
 */
function consuming(
  hearing: AutoReconnect<Connection>,
  subscription: Subscription,
  calmMs: number,
): Pick<AutoReconnect<Subscribed>, 'close'> {
  const ending = new Set<Promise<void>>();
  const kept = autoReconnect<Subscribed>({
    name: `The subscription to ${subscription.queue}`,
    onError: subscription.onError,
    async open(signal) {
      await pause(calmMs, undefined, { signal });
      const given = new Promise<never>((_, reject) => {
        signal.addEventListener('abort', () => reject(signal.reason));
      });
      const { model } = await Promise.race([hearing.opened(), given]);
      const value = await subscribe(model, subscription).catch((error: unknown) => {
        // the queue is not there: somebody has taken it away
        hearing.renew(error);
        throw error;
      });
      const end = async () => {
        const drained = value.drain();
        ending.add(drained);
        void drained.then(() => ending.delete(drained));
        // a lost one has nothing to wait for: its events come again
        if (signal.aborted) await drained;
        await value.close();
      };
      return { value, lost: value.lost, end };
    },
  });
  return {
    async close() {
      await kept.close();
      await Promise.all(ending);
    },
  };
}

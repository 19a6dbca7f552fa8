/**
 * The in-process event bus, for services that run in one process.
 *
 * `publish` resolves when every queue bound to the event's type has handled it. If the process dies before
 * that, the event is still unpublished in the outbox.
 */
import type { Envelope } from '#libs/contract';
import { type Bus, BusClosed, type ConsumeOptions, DeadLettered, type Handler, Unroutable } from './bus.ts';
import { type Retries, standardRetries, tryHandling } from './retries.ts';
import { getConsumers, type Topology } from './topology.ts';

/** One event in one queue; `settle` settles its `publish` call. */
interface QueuedEvent {
  event: Envelope;
  settle: { resolve(): void; reject(error: Error): void };
}

interface Queue {
  waiting: QueuedEvent[];
  /** Dead letters by event id, so that a republished event is listed once. */
  dead: Map<string, Envelope>;
  /** Each function takes events from `waiting` up to the consumer's prefetch. */
  consumers: Set<() => void>;
}

/** A consumer of a queue. */
interface Subscription {
  name: string;
  queue: Queue;
  handler: Handler;
  options: ConsumeOptions;
}

/** Creates a bus within this process. `retries` are the pauses between attempts of a failing handler, ms. */
export function memoryBus(topology: Topology, options: { retries?: Retries } = {}): Bus {
  const retries = options.retries ?? standardRetries;
  const queues = new Map([...topology.keys()].map((name) => [name, createQueue()]));
  const closing = new AbortController();
  const running = new Set<Promise<void>>();

  const getQueue = (name: string): Queue => {
    const queue = queues.get(name);
    if (!queue) throw new Error(`Unknown queue: ${name}`);
    return queue;
  };

  return {
    messagingSystem: 'in_memory',
    get up() {
      return !closing.signal.aborted;
    },
    async publish(event) {
      if (closing.signal.aborted) throw new BusClosed();
      const queueNames = getConsumers(topology, event.type);
      if (queueNames.length === 0) throw new Unroutable(event.type);
      // serialized as over RabbitMQ, so that both buses lose what JSON cannot represent
      const text = JSON.stringify(event);
      const results = await Promise.allSettled(queueNames.map((name) => enqueue(getQueue(name), text)));
      for (const result of results) if (result.status === 'rejected') throw result.reason;
    },
    async consume(name, handler, consumeOptions) {
      if (closing.signal.aborted) throw new BusClosed();
      const queue = getQueue(name);
      const inFlight = new Set<Promise<void>>();
      const take = () => {
        while (inFlight.size < consumeOptions.prefetch) {
          const next = queue.waiting.shift();
          if (!next) return;
          const work = handle({ name, queue, handler, options: consumeOptions }, next).finally(() => {
            inFlight.delete(work);
            running.delete(work);
            if (queue.consumers.has(take)) take();
          });
          inFlight.add(work);
          running.add(work);
        }
      };
      queue.consumers.add(take);
      take();
      return {
        async cancel() {
          queue.consumers.delete(take);
          await Promise.all(inFlight);
        },
      };
    },
    async depth(name) {
      const { waiting, dead } = getQueue(name);
      return { ready: waiting.length, retry: 0, dead: dead.size };
    },
    async dead(name) {
      return [...getQueue(name).dead.values()];
    },
    async close() {
      closing.abort(new BusClosed());
      for (const queue of queues.values()) {
        queue.consumers.clear();
        for (const { settle } of queue.waiting.splice(0)) settle.reject(new BusClosed());
      }
      await Promise.all(running);
    },
  };

  /** Handles one event and settles its `publish` call; never rejects. */
  async function handle({ name, queue, handler, options }: Subscription, { event, settle }: QueuedEvent) {
    // an event without an id is invalid: its whole text is the key
    const key = typeof event.id === 'string' ? event.id : JSON.stringify(event);
    try {
      await tryHandling(handler, event, retries, closing.signal);
      queue.dead.delete(key);
      settle.resolve();
    } catch (error) {
      if (closing.signal.aborted) return settle.reject(new BusClosed());
      queue.dead.set(key, event);
      options.onDeadLetter?.(event);
      settle.reject(new DeadLettered(name, error));
    }
  }
}

function createQueue(): Queue {
  return { waiting: [], dead: new Map(), consumers: new Set() };
}

function enqueue(queue: Queue, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    queue.waiting.push({ event: JSON.parse(text), settle: { resolve, reject } });
    for (const take of queue.consumers) take();
  });
}

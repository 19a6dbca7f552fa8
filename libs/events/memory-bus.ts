/**
 * The in-process bus: carries events between services of one process.
 *
 * It takes responsibility for an event by having it handled: `publish` resolves when every queue that wants the
 * event has handled it. What is unfinished when the process dies is still unpublished in the outbox.
 */
import type { Envelope } from '#libs/contract';
import { type Bus, BusClosed, type ConsumeOptions, DeadLettered, type Handler, Unroutable } from './bus.ts';
import { type Retries, standardRetries, tryHandling } from './retries.ts';
import { getConsumers, type Topology } from './topology.ts';

/** One event in one queue. */
interface QueuedEvent {
  event: Envelope;
  settle: { resolve(): void; reject(error: Error): void };
}

interface Queue {
  waiting: QueuedEvent[];
  /** By id, so that an event that is sent again is set aside once. */
  dead: Map<string, Envelope>;
  /** Each takes what it has room for. */
  consumers: Set<() => void>;
}

/** Who handles what is in a queue. */
interface Subscription {
  name: string;
  queue: Queue;
  handler: Handler;
  options: ConsumeOptions;
}

/** A bus within this process. `retries`: the pauses between tries of a failing handler. */
export function memoryBus(topology: Topology, options: { retries?: Retries } = {}): Bus {
  const retries = options.retries ?? standardRetries;
  const queues = new Map([...topology.keys()].map((name) => [name, emptyQueue()]));
  const closing = new AbortController();
  const running = new Set<Promise<void>>();

  const getQueue = (name: string): Queue => {
    const queue = queues.get(name);
    if (!queue) throw new Error(`There is no queue ${name}`);
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
      // as text, as over any wire: what JSON does not carry is lost here too
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

  /** Never rejects: how it went is told to who published. */
  async function handle({ name, queue, handler, options }: Subscription, { event, settle }: QueuedEvent) {
    // without an id it is garbage, and any two are different
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

function emptyQueue(): Queue {
  return { waiting: [], dead: new Map(), consumers: new Set() };
}

function enqueue(queue: Queue, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    queue.waiting.push({ event: JSON.parse(text), settle: { resolve, reject } });
    for (const take of queue.consumers) take();
  });
}

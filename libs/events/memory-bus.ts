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
interface Waiting {
  event: Envelope;
  settle: { resolve(): void; reject(error: Error): void };
}

interface Queue {
  waiting: Waiting[];
  /** By id, so that an event that is sent again is set aside once. */
  dead: Map<string, Envelope>;
  /** Each takes what it has room for. */
  takers: Set<() => void>;
}

/** Who handles what is in a queue. */
interface Subscription {
  name: string;
  queue: Queue;
  handler: Handler;
  hearing: ConsumeOptions;
}

/** A bus within this process. `retries`: the pauses between tries of a failing handler. */
export function memoryBus(topology: Topology, options: { retries?: Retries } = {}): Bus {
  const retries = options.retries ?? standardRetries;
  const queues = new Map([...topology.keys()].map((name) => [name, emptyQueue()]));
  const closing = new AbortController();
  const running = new Set<Promise<void>>();

  const queueOf = (name: string): Queue => {
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
      const wanting = getConsumers(topology, event.type);
      if (wanting.length === 0) throw new Unroutable(event.type);
      // as text, as over any wire: what JSON does not carry is lost here too
      const text = JSON.stringify(event);
      const results = await Promise.allSettled(wanting.map((name) => enqueue(queueOf(name), text)));
      for (const result of results) if (result.status === 'rejected') throw result.reason;
    },
    async consume(name, handler, hearing) {
      if (closing.signal.aborted) throw new BusClosed();
      const queue = queueOf(name);
      const inHand = new Set<Promise<void>>();
      const take = () => {
        while (inHand.size < hearing.prefetch) {
          const next = queue.waiting.shift();
          if (!next) return;
          const work = handle({ name, queue, handler, hearing }, next).finally(() => {
            inHand.delete(work);
            running.delete(work);
            if (queue.takers.has(take)) take();
          });
          inHand.add(work);
          running.add(work);
        }
      };
      queue.takers.add(take);
      take();
      return {
        async cancel() {
          queue.takers.delete(take);
          await Promise.all(inHand);
        },
      };
    },
    async depth(name) {
      const { waiting, dead } = queueOf(name);
      return { ready: waiting.length, retry: 0, dead: dead.size };
    },
    async dead(name) {
      return [...queueOf(name).dead.values()];
    },
    async close() {
      closing.abort(new BusClosed());
      for (const queue of queues.values()) {
        queue.takers.clear();
        for (const { settle } of queue.waiting.splice(0)) settle.reject(new BusClosed());
      }
      await Promise.all(running);
    },
  };

  /** Never rejects: how it went is told to who published. */
  async function handle({ name, queue, handler, hearing }: Subscription, { event, settle }: Waiting) {
    // without an id it is garbage, and any two are different
    const key = typeof event.id === 'string' ? event.id : JSON.stringify(event);
    try {
      await tryHandling(handler, event, retries, closing.signal);
      queue.dead.delete(key);
      settle.resolve();
    } catch (error) {
      if (closing.signal.aborted) return settle.reject(new BusClosed());
      queue.dead.set(key, event);
      hearing.onDeadLetter?.(event);
      settle.reject(new DeadLettered(name, error));
    }
  }
}

function emptyQueue(): Queue {
  return { waiting: [], dead: new Map(), takers: new Set() };
}

function enqueue(queue: Queue, text: string): Promise<void> {
  return new Promise((resolve, reject) => {
    queue.waiting.push({ event: JSON.parse(text), settle: { resolve, reject } });
    for (const take of queue.takers) take();
  });
}

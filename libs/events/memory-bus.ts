/**
 * The in-process bus: carries events between services of one process.
 *
 * It takes responsibility for an event by having it handled: `publish` resolves when every queue that wants the
 * event has handled it. What is unfinished when the process dies is still unpublished in the outbox.
 */
import type { Envelope } from '#libs/contract';
import { type Bus, BusClosed, type Handler, Poisoned, Unroutable } from './bus.ts';
import { type Retries, standardRetries, tryHandling } from './retries.ts';
import { consumersOf, type Topology } from './topology.ts';

interface Waiting {
  event: Envelope;
  settle: { resolve(): void; reject(error: Error): void };
}

interface Queue {
  waiting: Waiting[];
  /** By id, so that an event that is sent again is set aside once. */
  dead: Map<string, Envelope>;
  inHand: number;
  take: (() => void) | undefined;
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
    get up() {
      return !closing.signal.aborted;
    },
    async publish(event) {
      if (closing.signal.aborted) throw new BusClosed();
      const wanting = consumersOf(topology, event.type);
      if (wanting.length === 0) throw new Unroutable(event.type);
      const copy = structuredClone(event);
      const results = await Promise.allSettled(wanting.map((name) => enqueue(queueOf(name), copy)));
      for (const result of results) if (result.status === 'rejected') throw result.reason;
    },
    async consume(name, handler, { prefetch }) {
      const queue = queueOf(name);
      const take = () => {
        while (queue.inHand < prefetch && queue.waiting.length > 0) {
          const next = queue.waiting.shift();
          if (next) track(handle(name, queue, handler, next));
        }
      };
      queue.take = take;
      take();
      return {
        async cancel() {
          if (queue.take === take) queue.take = undefined;
          await Promise.allSettled(running);
        },
      };
    },
    async dead(name) {
      return [...queueOf(name).dead.values()];
    },
    async close() {
      closing.abort(new BusClosed());
      for (const queue of queues.values()) {
        queue.take = undefined;
        for (const { settle } of queue.waiting.splice(0)) settle.reject(new BusClosed());
      }
      await Promise.allSettled(running);
    },
  };

  function track(work: Promise<void>): void {
    running.add(work);
    work.finally(() => running.delete(work));
  }

  async function handle(
    name: string,
    queue: Queue,
    handler: Handler,
    { event, settle }: Waiting,
  ): Promise<void> {
    queue.inHand += 1;
    try {
      await tryHandling(handler, event, retries, closing.signal);
      settle.resolve();
    } catch (error) {
      if (closing.signal.aborted) return settle.reject(new BusClosed());
      queue.dead.set(event.id, event);
      settle.reject(new Poisoned(name, error));
    } finally {
      queue.inHand -= 1;
      queue.take?.();
    }
  }
}

function emptyQueue(): Queue {
  return { waiting: [], dead: new Map(), inHand: 0, take: undefined };
}

function enqueue(queue: Queue, event: Envelope): Promise<void> {
  return new Promise((resolve, reject) => {
    queue.waiting.push({ event, settle: { resolve, reject } });
    queue.take?.();
  });
}

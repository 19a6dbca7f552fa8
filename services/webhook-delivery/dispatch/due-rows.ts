/** Finds due deliveries in MongoDB and queues them in memory for a slot. */
import type { Scheduler } from '../rules/dynamic-threshold-scheduler.ts';
import { splitShards } from '../rules/shards.ts';
import type { Queue } from '../store/queue.ts';
import type { EndpointBackoff } from './endpoint-backoff.ts';

const pollMs = 1_000;
const batchSize = 200;

/** Dependencies of `createDueRows`. */
interface DueRowsDeps {
  queue: Pick<Queue, 'findDue'>;
  scheduler: Pick<Scheduler, 'add' | 'fillLevel'>;
  backoff: Pick<EndpointBackoff, 'admit' | 'pending'>;
  /** Random number in [0, 1). */
  random: () => number;
}

/** Creates the search for due deliveries. It knows when to ask MongoDB again. */
export function createDueRows({ queue, scheduler, backoff, random }: DueRowsDeps) {
  let nextPollMs = 0;
  let isCutOff = false;

  return {
    /** Returns the time until the next poll is due, ms; 0 if it is due now. */
    untilPollMs: () => Math.max(0, nextPollMs - performance.now()),

    /** Whether the last search was cut off at its limit. */
    mayHaveMore: () => isCutOff,

    /** Finds due deliveries in all shards. */
    async poll(): Promise<void> {
      nextPollMs = performance.now() + pollMs;
      await find(splitShards(random()).flat());
    },

    /**
     * Finds due deliveries in half of the shards. Replicas start at random shards, so they rarely find the same
     * rows.
     */
    refill: () => find(splitShards(random())[0]),
  };

  async function find(shards: readonly number[]): Promise<void> {
    isCutOff = false;
    const { full, others } = scheduler.fillLevel();
    // the result may contain every row that is already known here, so the limit is raised by their number
    const limit = batchSize + others;
    const found = await queue.findDue({ shards, without: [...full, ...backoff.pending()], limit });
    isCutOff = found.length === limit;
    scheduler.add(backoff.admit(found));
  }
}

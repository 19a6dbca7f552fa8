/** Fair scheduling: assigns slots to due deliveries. A slow endpoint does not delay other endpoints. */

/** Maximum number of concurrent requests to one endpoint. */
export const perEndpoint = 4;

/** Maximum number of concurrent requests of one process. */
export const perProcess = 256;

/** Slots that only organizations without a slot may use. */
const reservedSlots = 32;

/** Maximum number of rows queued in memory per endpoint. Further rows stay in MongoDB. */
export const maxQueuedPerEndpoint = 200;

/** An endpoint with this many queued rows is not refilled from MongoDB. */
const defaultTargetDepth = 32;

/** If more rows than this are queued or in flight, the target depth drops to `perEndpoint`. */
const crowdedThreshold = 2_000;

/** A due delivery that may get a slot. */
export interface Candidate {
  readonly _id: string;
  readonly config_id: string;
  readonly organization_id: string;
}

/** Rows of one endpoint that wait in memory for a slot. */
interface EndpointQueue {
  readonly candidates: Candidate[];
  /** Whether more rows may wait in MongoDB. */
  hasMore: boolean;
}

export type FairScheduler = ReturnType<typeof createFairScheduler>;

/**
 * Creates the scheduler of one process. An endpoint may use four slots. An organization gets another slot
 * while it uses fewer than are free (dynamic thresholds, Choudhury and Hahne 1998): about half of all slots
 * if it is alone, a third each for two organizations. Some slots are reserved for organizations that use
 * none. Endpoints take turns.
 */
export function createFairScheduler() {
  const queues = new Map<string, EndpointQueue>();
  const knownIds = new Set<string>();
  const usedByEndpoint = new Map<string, number>();
  const usedByOrganization = new Map<string, number>();
  let usedSlots = 0;

  return {
    /** Queues rows that are not queued or in flight yet, up to the limit per endpoint. */
    add(rows: readonly Candidate[]): void {
      for (const row of rows) {
        if (knownIds.has(row._id)) continue;
        const queue = queues.get(row.config_id) ?? { candidates: [], hasMore: false };
        queues.set(row.config_id, queue);
        if (queue.candidates.length >= maxQueuedPerEndpoint) queue.hasMore = true;
        else {
          queue.candidates.push(row);
          knownIds.add(row._id);
        }
      }
    },

    /**
     * Removes the queued rows that get a slot now and returns them. `limitFor` gives the slots of an
     * endpoint.
     */
    take(limitFor: (configId: string) => number = () => perEndpoint): Candidate[] {
      const taken: Candidate[] = [];
      for (const [configId, queue] of [...queues]) {
        const limit = limitFor(configId);
        let next = queue.candidates[0];
        let isServed = false;
        while (next && hasSlot(next, limit)) {
          queue.candidates.shift();
          addUse(next, 1);
          taken.push(next);
          isServed = true;
          next = queue.candidates[0];
        }
        if (!isServed) continue;
        // reinsertion moves the endpoint to the end, so that endpoints take turns
        queues.delete(configId);
        if (next || queue.hasMore) queues.set(configId, queue);
      }
      return taken;
    },

    /**
     * Gives slots to rows about to be inserted, unless rows of their endpoint are queued. Returns the rows
     * served.
     */
    reserve(rows: readonly Candidate[], limitFor: (configId: string) => number): Candidate[] {
      const tryReserve = (row: Candidate) => {
        if (queues.has(row.config_id) || !hasSlot(row, limitFor(row.config_id))) return false;
        knownIds.add(row._id);
        addUse(row, 1);
        return true;
      };
      return rows.filter(tryReserve);
    },

    /** Frees the slot of a row. */
    release(row: Candidate): void {
      knownIds.delete(row._id);
      addUse(row, -1);
    },

    /** Removes the queued rows of an endpoint. */
    drop(configId: string): void {
      for (const { _id } of queues.get(configId)?.candidates ?? []) knownIds.delete(_id);
      queues.delete(configId);
    },

    /**
     * Returns the endpoints whose in-memory queue is full enough (`without`), and the number of deliveries
     * queued or in flight for all other endpoints (`others`).
     */
    saturated(): { without: string[]; others: number } {
      const full = [...queues].filter(([, { candidates }]) => candidates.length >= targetDepth());
      const queuedInFull = full.reduce((sum, [, { candidates }]) => sum + candidates.length, 0);
      return { without: full.map(([configId]) => configId), others: knownIds.size - queuedInFull };
    },

    /**
     * Returns true if some endpoint's in-memory queue is running low and more of its deliveries are waiting
     * in MongoDB. Clears the flag for each endpoint it reports.
     */
    needsRefill(): boolean {
      let isLow = false;
      for (const [configId, queue] of queues) {
        if (!queue.hasMore || queue.candidates.length >= targetDepth()) continue;
        isLow = true;
        queue.hasMore = false;
        if (queue.candidates.length === 0) queues.delete(configId);
      }
      return isLow;
    },

    /** Returns the number of unused slots. */
    free: () => perProcess - usedSlots,
  };

  function targetDepth(): number {
    return knownIds.size > crowdedThreshold ? perEndpoint : defaultTargetDepth;
  }

  function hasSlot({ config_id, organization_id }: Candidate, limit: number): boolean {
    return getCount(usedByEndpoint, config_id) < limit && hasFairShare(organization_id);
  }

  function hasFairShare(organizationId: string): boolean {
    const free = perProcess - usedSlots;
    const used = getCount(usedByOrganization, organizationId);
    return used === 0 ? free > 0 : used < free - reservedSlots;
  }

  function addUse({ config_id, organization_id }: Candidate, change: 1 | -1): void {
    addCount(usedByEndpoint, config_id, change);
    addCount(usedByOrganization, organization_id, change);
    usedSlots += change;
  }
}

function getCount(counts: ReadonlyMap<string, number>, key: string): number {
  return counts.get(key) ?? 0;
}

function addCount(counts: Map<string, number>, key: string, change: 1 | -1): void {
  const sum = getCount(counts, key) + change;
  if (sum > 0) counts.set(key, sum);
  else counts.delete(key);
}

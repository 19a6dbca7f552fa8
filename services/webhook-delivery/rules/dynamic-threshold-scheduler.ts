/**
 * Assigns the slots of a process to due deliveries: round robin over the endpoints, with dynamic thresholds for
 * the organizations. A slot permits one request in flight.
 */

/** Maximum number of concurrent requests to one endpoint. */
export const perEndpoint = 4;

/** Maximum number of concurrent requests of one process. */
export const perProcess = 256;

/** Slots that only organizations without a slot may use. */
const reservedSlots = 32;

/** Maximum number of rows queued in memory per endpoint. Further rows stay in MongoDB. */
export const maxQueuedPerEndpoint = 200;

/** An endpoint with this many queued rows needs no more for now. */
const fullDepth = 32;

/** If more rows than this are queued or in flight, `perEndpoint` queued rows are enough for an endpoint. */
const manyKnown = 2_000;

/** A due delivery that may get a slot. */
export interface Candidate {
  readonly _id: string;
  readonly config_id: string;
  readonly organization_id: string;
}

export type Scheduler = ReturnType<typeof createScheduler>;

/**
 * Creates the scheduler of one process. `limitFor` returns how many slots an endpoint may use now. An
 * organization gets another slot while it uses fewer than are free (dynamic thresholds with α = 1, Choudhury and
 * Hahne 1998). Free slots do not include some that are reserved for organizations that use none: about half of the
 * others if it is alone, a third each for two organizations.
 */
export function createScheduler(limitFor: (configId: string) => number) {
  /** Rows that wait for a slot, by endpoint. The endpoint that was served last is at the end. */
  const queues = new Map<string, Candidate[]>();
  /** Ids of the rows that are queued or use a slot. */
  const knownIds = new Set<string>();
  const slots = createSlots();

  return {
    /** Queues rows that are not queued or in flight yet, up to the limit per endpoint. */
    add(rows: readonly Candidate[]): void {
      for (const row of rows) {
        const queue = queues.get(row.config_id) ?? [];
        if (knownIds.has(row._id) || queue.length >= maxQueuedPerEndpoint) continue;
        queue.push(row);
        queues.set(row.config_id, queue);
        knownIds.add(row._id);
      }
    },

    /** Returns whether a queued row may get a slot now. */
    hasRunnable(): boolean {
      return [...queues.values()].some(([next]) => next !== undefined && slots.permits(next, limitFor));
    },

    /** Removes the queued rows that get a slot now and returns them. */
    take(): Candidate[] {
      const taken: Candidate[] = [];
      for (const [configId, queue] of [...queues]) {
        const served = serve(queue, slots, limitFor);
        if (served.length > 0) moveToEnd(queues, configId);
        taken.push(...served);
      }
      return taken;
    },

    /** Returns the rows that get a slot now, before they are stored. An endpoint with queued rows gets none. */
    takeAtOnce(rows: readonly Candidate[]): Candidate[] {
      return rows.filter((row) => {
        if (queues.has(row.config_id) || !slots.permits(row, limitFor)) return false;
        slots.use(row);
        knownIds.add(row._id);
        return true;
      });
    },

    /** Frees the slot of a row. */
    release(row: Candidate): void {
      knownIds.delete(row._id);
      slots.free(row);
    },

    /** Removes the queued rows of an endpoint. */
    drop(configId: string): void {
      for (const { _id } of queues.get(configId) ?? []) knownIds.delete(_id);
      queues.delete(configId);
    },

    /**
     * Returns the endpoints with enough queued rows (`full`), and the number of rows that are queued or in
     * flight for all other endpoints (`others`).
     */
    fillLevel(): { full: string[]; others: number } {
      return measureFill(queues, knownIds.size);
    },

    /** Returns the number of unused slots. */
    freeSlots: slots.countFree,
  };
}

/** Removes the rows at the front of a queue that get a slot now and returns them. */
function serve(queue: Candidate[], slots: Slots, limitFor: (configId: string) => number): Candidate[] {
  const served: Candidate[] = [];
  for (let [next] = queue; next && slots.permits(next, limitFor); [next] = queue) {
    slots.use(next);
    served.push(next);
    queue.shift();
  }
  return served;
}

function measureFill(queues: ReadonlyMap<string, readonly Candidate[]>, known: number) {
  const depth = known > manyKnown ? perEndpoint : fullDepth;
  const full = [...queues].filter(([, queue]) => queue.length >= depth);
  const inFull = full.reduce((sum, [, queue]) => sum + queue.length, 0);
  return { full: full.map(([configId]) => configId), others: known - inFull };
}

/** Moves an endpoint that was served to the end of the queues, or removes it if its queue is empty. */
function moveToEnd(queues: Map<string, Candidate[]>, configId: string): void {
  const queue = queues.get(configId) ?? [];
  queues.delete(configId);
  if (queue.length > 0) queues.set(configId, queue);
}

type Slots = ReturnType<typeof createSlots>;

/** Counts the used slots of the process, of each endpoint and of each organization. */
function createSlots() {
  const byEndpoint = new Map<string, number>();
  const byOrganization = new Map<string, number>();
  let used = 0;
  const countFree = () => perProcess - used;

  return {
    countFree,
    permits({ config_id, organization_id }: Candidate, limitFor: (configId: string) => number): boolean {
      if (getCount(byEndpoint, config_id) >= limitFor(config_id)) return false;
      const usedByOrganization = getCount(byOrganization, organization_id);
      if (usedByOrganization === 0) return countFree() > 0;
      return usedByOrganization < countFree() - reservedSlots;
    },
    use: (row: Candidate) => change(row, 1),
    free: (row: Candidate) => change(row, -1),
  };

  function change({ config_id, organization_id }: Candidate, by: 1 | -1): void {
    addCount(byEndpoint, config_id, by);
    addCount(byOrganization, organization_id, by);
    used += by;
  }
}

function getCount(counts: ReadonlyMap<string, number>, key: string): number {
  return counts.get(key) ?? 0;
}

function addCount(counts: Map<string, number>, key: string, by: 1 | -1): void {
  const sum = getCount(counts, key) + by;
  if (sum > 0) counts.set(key, sum);
  else counts.delete(key);
}

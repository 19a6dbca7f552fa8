/** How many deliveries are in flight, and for whom: nobody waits for another one's endpoint. */

/** At most this many requests to one endpoint at a time. */
export const perEndpoint = 4;

/** At most this many requests of one process at a time. */
export const perProcess = 256;

/** So many of these are for organizations that have none. */
const reserved = 32;

/** At most this many rows of one endpoint wait here; the others wait in MongoDB. */
export const maxQueuedPerEndpoint = 200;

/** An endpoint with as many rows here needs no others yet. */
const usualTargetDepth = 32;

/** From so many rows on, fewer of each are enough. */
const crowdedFrom = 2_000;

/** A row that could be taken up. */
export interface Candidate {
  readonly _id: string;
  readonly config_id: string;
  readonly organization_id: string;
}

/** The rows of one endpoint that wait here. */
interface Lane {
  readonly waiting: Candidate[];
  /** Whether more rows may wait in MongoDB. */
  more: boolean;
}

export type FairScheduler = ReturnType<typeof fairScheduler>;

/**
 * A room for the rows of one process. An endpoint gets four slots. An organization gets another slot as long as it has
 * fewer than are free (dynamic thresholds, Choudhury and Hahne 1998): half of all when it is alone, a third each when
 * there are two; some are kept for those that have none yet. Endpoints take turns.
 */
export function fairScheduler() {
  const lanes = new Map<string, Lane>();
  const known = new Set<string>();
  const ofEndpoint = new Map<string, number>();
  const ofOrganization = new Map<string, number>();
  let inUse = 0;

  return {
    /** Lets rows in that are not here yet, as far as there is room for their endpoint. */
    add(rows: readonly Candidate[]): void {
      for (const row of rows) {
        if (known.has(row._id)) continue;
        const lane = lanes.get(row.config_id) ?? { waiting: [], more: false };
        lanes.set(row.config_id, lane);
        if (lane.waiting.length >= maxQueuedPerEndpoint) lane.more = true;
        else {
          lane.waiting.push(row);
          known.add(row._id);
        }
      }
    },

    /** Takes rows out that get a slot now. `limitOf`: the slots that an endpoint may have, if they are not four. */
    take(limitOf: (configId: string) => number = () => perEndpoint): Candidate[] {
      const taken: Candidate[] = [];
      for (const [configId, lane] of [...lanes]) {
        const limit = limitOf(configId);
        let next = lane.waiting[0];
        let served = false;
        while (next && hasSlot(next, limit)) {
          lane.waiting.shift();
          add(next, 1);
          taken.push(next);
          served = true;
          next = lane.waiting[0];
        }
        if (!served) continue;
        lanes.delete(configId);
        if (next || lane.more) lanes.set(configId, lane);
      }
      return taken;
    },

    /** Gives rows a slot that are still to be written, as far as there is one and no row of their endpoint waits for it. */
    reserve(rows: readonly Candidate[], limitOf: (configId: string) => number): Candidate[] {
      const isServed = (row: Candidate) => {
        if (lanes.has(row.config_id) || !hasSlot(row, limitOf(row.config_id))) return false;
        known.add(row._id);
        add(row, 1);
        return true;
      };
      return rows.filter(isServed);
    },

    /** A slot is free again. */
    release(row: Candidate): void {
      known.delete(row._id);
      add(row, -1);
    },

    /** Forgets the rows of an endpoint that wait. */
    drop(configId: string): void {
      for (const { _id } of lanes.get(configId)?.waiting ?? []) known.delete(_id);
      lanes.delete(configId);
    },

    /** The endpoints of which enough rows are here, and how many rows of others are here or have a slot. */
    saturated(): { without: string[]; others: number } {
      const full = [...lanes].filter(([, { waiting }]) => waiting.length >= targetDepth());
      const theirs = full.reduce((sum, [, { waiting }]) => sum + waiting.length, 0);
      return { without: full.map(([configId]) => configId), others: known.size - theirs };
    },

    /** Whether an endpoint whose other rows were left in MongoDB has few here; asks for each endpoint once. */
    needsRefill(): boolean {
      let short = false;
      for (const [configId, lane] of lanes) {
        if (!lane.more || lane.waiting.length >= targetDepth()) continue;
        short = true;
        lane.more = false;
        if (lane.waiting.length === 0) lanes.delete(configId);
      }
      return short;
    },

    /** Slots that nobody uses. */
    free: () => perProcess - inUse,
  };

  function targetDepth(): number {
    return known.size > crowdedFrom ? perEndpoint : usualTargetDepth;
  }

  function hasSlot({ config_id, organization_id }: Candidate, limit: number): boolean {
    return used(ofEndpoint, config_id) < limit && hasFairShare(organization_id);
  }

  function hasFairShare(organizationId: string): boolean {
    const free = perProcess - inUse;
    const mine = used(ofOrganization, organizationId);
    return mine === 0 ? free > 0 : mine < free - reserved;
  }

  function add({ config_id, organization_id }: Candidate, one: 1 | -1): void {
    count(ofEndpoint, config_id, one);
    count(ofOrganization, organization_id, one);
    inUse += one;
  }
}

function used(counts: ReadonlyMap<string, number>, key: string): number {
  return counts.get(key) ?? 0;
}

function count(counts: Map<string, number>, key: string, one: 1 | -1): void {
  const sum = used(counts, key) + one;
  if (sum > 0) counts.set(key, sum);
  else counts.delete(key);
}

/** Rows are spread over this many shards, so that replicas look at different ones first. */
export const shardCount = 16;

/** All shards in two halves from a random start; `random` is in [0, 1). */
export function halves(random: number): [number[], number[]] {
  const start = Math.floor(random * shardCount);
  const all = Array.from({ length: shardCount }, (_, at) => (start + at) % shardCount);
  return [all.slice(0, shardCount / 2), all.slice(shardCount / 2)];
}

/** The shard of a row: the last digit of its id, which is random (RFC 9562, version 7). */
export function shardOf(id: string): number {
  return Number.parseInt(id.slice(-1), 16) % shardCount;
}

/** How many deliveries are in flight, and for whom: a hanging endpoint never takes the place of a healthy one. */

/** At most this many requests to one endpoint at a time. */
export const perEndpoint = 4;

/** At most this many requests of one process at a time. */
export const perProcess = 256;

/** Rows are spread over this many shards, so that replicas look at different ones first. */
export const shardCount = 16;

/** A row that could be taken up. */
export interface Candidate {
  readonly _id: string;
  readonly config_id: string;
}

/** The rows to take up, in the order given, with a free slot for each. `busy`: requests in flight by endpoint. */
export function chosen(
  candidates: readonly Candidate[],
  busy: ReadonlyMap<string, number>,
  free: number,
): string[] {
  const taken = new Map(busy);
  const ids: string[] = [];
  for (const { _id, config_id } of candidates) {
    const before = taken.get(config_id) ?? 0;
    if (ids.length >= free || before >= perEndpoint) continue;
    taken.set(config_id, before + 1);
    ids.push(_id);
  }
  return ids;
}

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

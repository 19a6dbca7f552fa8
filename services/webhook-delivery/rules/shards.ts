/** Shards: groups of due deliveries, so that replicas can start to poll at different ones. */

/** The number of shards. */
export const shardCount = 16;

/** Splits all shards into two halves, from a random start. `random` is in [0, 1). */
export function splitShards(random: number): [number[], number[]] {
  const start = Math.floor(random * shardCount);
  const shards = Array.from({ length: shardCount }, (_, index) => (start + index) % shardCount);
  return [shards.slice(0, shardCount / 2), shards.slice(shardCount / 2)];
}

/** Returns the shard of a row: the last hex digit of its id, which is random (UUID version 7, RFC 9562). */
export function toShard(id: string): number {
  return Number.parseInt(id.slice(-1), 16) % shardCount;
}

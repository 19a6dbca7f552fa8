/** Tests how rows are spread over shards and shards over replicas. */
import { expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import { shardCount, splitShards, toShard } from './shards.ts';

test('splitShards covers every shard once from any start', () => {
  for (const random of [0, 0.3, 0.999]) {
    const all = splitShards(random).flat();
    expect(new Set(all).size).toBe(shardCount);
    expect(Math.max(...all)).toBe(shardCount - 1);
  }
  expect(splitShards(0.5)[0][0]).toBe(8);
});

test('toShard spreads ids over all shards', () => {
  const shards = new Set(Array.from({ length: 2_000 }, () => toShard(newId())));
  expect([...shards].sort((a, b) => a - b)).toEqual(Array.from({ length: shardCount }, (_, at) => at));
});

/** Who gets a slot. */
import { expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import { chosen, halves, shardCount, shardOf } from './slots.ts';

const rows = (config_id: string, count: number) =>
  Array.from({ length: count }, (_, at) => ({ _id: `${config_id}${at}`, config_id }));

test('an endpoint gets four slots, and those behind it are not kept waiting', () => {
  expect(chosen([...rows('a', 6), ...rows('b', 1)], new Map(), 100)).toEqual(['a0', 'a1', 'a2', 'a3', 'b0']);
});

test('slots in use count', () => {
  expect(
    chosen(
      rows('a', 3),
      new Map([
        ['a', 3],
        ['b', 4],
      ]),
      100,
    ),
  ).toEqual(['a0']);
});

test('no more rows are taken than there are free slots', () => {
  expect(chosen([...rows('a', 2), ...rows('b', 2)], new Map(), 3)).toEqual(['a0', 'a1', 'b0']);
  expect(chosen(rows('a', 2), new Map(), 0)).toEqual([]);
});

test('two halves hold every shard once, from any start', () => {
  for (const random of [0, 0.3, 0.999]) {
    const all = halves(random).flat();
    expect(new Set(all).size).toBe(shardCount);
    expect(Math.max(...all)).toBe(shardCount - 1);
  }
  expect(halves(0.5)[0][0]).toBe(8);
});

test('ids spread over all shards', () => {
  const seen = new Set(Array.from({ length: 2_000 }, () => shardOf(newId())));
  expect([...seen].sort((a, b) => a - b)).toEqual(Array.from({ length: shardCount }, (_, at) => at));
});

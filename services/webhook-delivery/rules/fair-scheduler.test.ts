/** Who gets a slot, and who waits. */
import { describe, expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import {
  type Candidate,
  createFairScheduler,
  maxQueuedPerEndpoint,
  perProcess,
  shardCount,
  splitShards,
  toShard,
} from './fair-scheduler.ts';

let made = 0;
const rows = (config_id: string, count: number, organization_id = config_id): Candidate[] =>
  Array.from({ length: count }, () => ({ _id: String(made++), config_id, organization_id }));
const endpoints = (organization: string, count: number, each: number) =>
  Array.from({ length: count }, (_, at) => rows(`${organization}-${at}`, each, organization)).flat();
const whose = (taken: readonly Candidate[]) => taken.map(({ config_id }) => config_id);

describe('slots of an endpoint', () => {
  test('an endpoint gets four slots and does not block others behind it', () => {
    const room = createFairScheduler();
    room.add([...rows('a', 6), ...rows('b', 1)]);
    expect(whose(room.take())).toEqual(['a', 'a', 'a', 'a', 'b']);
    expect(room.take()).toEqual([]);
  });

  test('an endpoint gets the next slot when one of its slots is released', () => {
    const room = createFairScheduler();
    room.add(rows('a', 6));
    const [first] = room.take() as [Candidate];
    room.release(first);
    expect(room.take()).toHaveLength(1);
  });

  test('an endpoint gets no more slots than its limit', () => {
    const room = createFairScheduler();
    room.add([...rows('a', 3), ...rows('b', 3)]);
    expect(whose(room.take((id) => (id === 'a' ? 1 : 0)))).toEqual(['a']);
  });

  test('endpoints take turns', () => {
    const room = createFairScheduler();
    room.add([...rows('a', 8), ...rows('b', 8)]);
    const taken = room.take();
    for (const row of taken) room.release(row);
    room.add(rows('c', 1));
    expect(new Set(whose(room.take()))).toEqual(new Set(['a', 'b', 'c']));
  });

  test('an endpoint is refilled from MongoDB when its queue runs low', () => {
    const room = createFairScheduler();
    room.add(rows('a', maxQueuedPerEndpoint + 1));
    expect(room.saturated()).toEqual({ without: ['a'], others: 0 });
    expect(room.needsRefill()).toBe(false);
    for (let taken = room.take(); taken.length > 0; taken = room.take()) taken.map(room.release);
    expect(room.saturated()).toEqual({ without: [], others: 0 });
    expect(room.needsRefill()).toBe(true);
    expect(room.needsRefill()).toBe(false);
  });
});

test('the target depth drops when many rows are queued', () => {
  const room = createFairScheduler();
  room.add(endpoints('few', 10, 10));
  expect(room.saturated()).toEqual({ without: [], others: 100 });
  room.add(endpoints('many', 300, 10));
  expect(room.saturated().others).toBe(0);
});

test('a queued or running row is not added twice', () => {
  const room = createFairScheduler();
  const [row] = rows('a', 1) as [Candidate];
  room.add([row, row]);
  expect(room.take()).toEqual([row]);
  room.add([row]);
  expect(room.take()).toEqual([]);
  expect(room.saturated().others).toBe(1);
  room.release(row);
  room.add([row]);
  expect(room.take()).toEqual([row]);
});

describe('slots of an organization', () => {
  test('a single organization gets about half of the unreserved slots', () => {
    const room = createFairScheduler();
    room.add(endpoints('big', 50, 4));
    expect(room.take()).toHaveLength((perProcess - 32) / 2);
    room.add(rows('small', 4));
    expect(whose(room.take())).toEqual(['small', 'small', 'small', 'small']);
  });

  test('an organization without slots always gets its first slot', () => {
    const room = createFairScheduler();
    for (let at = 0; at < 20; at += 1) room.add(endpoints(`org${at}`, 50, 4));
    room.take();
    room.add(rows('late', 2));
    expect(whose(room.take())).toEqual(['late']);
  });
});

test('dropped rows can be added again', () => {
  const room = createFairScheduler();
  const all = rows('a', 3);
  room.add(all);
  room.drop('a');
  expect(room.take()).toEqual([]);
  room.add(all);
  expect(room.take()).toHaveLength(3);
});

test('splitShards covers every shard once from any start', () => {
  for (const random of [0, 0.3, 0.999]) {
    const all = splitShards(random).flat();
    expect(new Set(all).size).toBe(shardCount);
    expect(Math.max(...all)).toBe(shardCount - 1);
  }
  expect(splitShards(0.5)[0][0]).toBe(8);
});

test('toShard spreads ids over all shards', () => {
  const seen = new Set(Array.from({ length: 2_000 }, () => toShard(newId())));
  expect([...seen].sort((a, b) => a - b)).toEqual(Array.from({ length: shardCount }, (_, at) => at));
});

describe('reserving slots', () => {
  const four = () => 4;

  test('reserve gives an endpoint no more slots than its limit', () => {
    const room = createFairScheduler();
    const booked = room.reserve([...rows('a', 6), ...rows('b', 1)], (id) => (id === 'a' ? 2 : 4));
    expect(whose(booked)).toEqual(['a', 'a', 'b']);
    expect(room.free()).toBe(perProcess - 3);
    room.add(rows('a', 6));
    expect(room.take()).toHaveLength(2);
  });

  test('reserve skips endpoints with queued rows', () => {
    const room = createFairScheduler();
    room.add(rows('a', 1));
    expect(whose(room.reserve([...rows('a', 1), ...rows('b', 1)], four))).toEqual(['b']);
  });

  test('reserve gives an organization no more than its share', () => {
    const room = createFairScheduler();
    expect(room.reserve(endpoints('one', 100, 4), four).length).toBeLessThan(perProcess / 2);
    expect(room.reserve(endpoints('two', 1, 4), four)).toHaveLength(4);
  });

  test('a reserved row is not added again until its slot is released', () => {
    const room = createFairScheduler();
    const booked = room.reserve(rows('a', 1), four);
    room.add(booked);
    expect(room.take()).toEqual([]);
    for (const row of booked) room.release(row);
    room.add(booked);
    expect(room.take()).toEqual(booked);
  });
});

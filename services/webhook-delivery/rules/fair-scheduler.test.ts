/** Tests how slots are assigned to endpoints and organizations. */
import { describe, expect, test } from '@jest/globals';
import { type Candidate, createFairScheduler, maxQueuedPerEndpoint, perProcess } from './fair-scheduler.ts';

let nextId = 0;
const rows = (config_id: string, count: number, organization_id = config_id): Candidate[] =>
  Array.from({ length: count }, () => ({ _id: String(nextId++), config_id, organization_id }));
const endpoints = (organization: string, count: number, rowsPerEndpoint: number) =>
  Array.from({ length: count }, (_, at) =>
    rows(`${organization}-${at}`, rowsPerEndpoint, organization),
  ).flat();
const toEndpoints = (taken: readonly Candidate[]) => taken.map(({ config_id }) => config_id);

describe('slots of an endpoint', () => {
  test('an endpoint gets four slots and does not block others behind it', () => {
    const scheduler = createFairScheduler();
    scheduler.add([...rows('a', 6), ...rows('b', 1)]);
    expect(toEndpoints(scheduler.take())).toEqual(['a', 'a', 'a', 'a', 'b']);
    expect(scheduler.take()).toEqual([]);
  });

  test('an endpoint gets the next slot when one of its slots is released', () => {
    const scheduler = createFairScheduler();
    scheduler.add(rows('a', 6));
    const [first] = scheduler.take() as [Candidate];
    scheduler.release(first);
    expect(scheduler.take()).toHaveLength(1);
  });

  test('an endpoint gets no more slots than its limit', () => {
    const scheduler = createFairScheduler();
    scheduler.add([...rows('a', 3), ...rows('b', 3)]);
    expect(toEndpoints(scheduler.take((id) => (id === 'a' ? 1 : 0)))).toEqual(['a']);
  });

  test('endpoints take turns', () => {
    const scheduler = createFairScheduler();
    scheduler.add([...rows('a', 8), ...rows('b', 8)]);
    const taken = scheduler.take();
    for (const row of taken) scheduler.release(row);
    scheduler.add(rows('c', 1));
    expect(new Set(toEndpoints(scheduler.take()))).toEqual(new Set(['a', 'b', 'c']));
  });

  test('an endpoint is refilled from MongoDB when its queue runs low', () => {
    const scheduler = createFairScheduler();
    scheduler.add(rows('a', maxQueuedPerEndpoint + 1));
    expect(scheduler.saturated()).toEqual({ without: ['a'], others: 0 });
    expect(scheduler.needsRefill()).toBe(false);
    for (let taken = scheduler.take(); taken.length > 0; taken = scheduler.take())
      taken.map(scheduler.release);
    expect(scheduler.saturated()).toEqual({ without: [], others: 0 });
    expect(scheduler.needsRefill()).toBe(true);
    expect(scheduler.needsRefill()).toBe(false);
  });
});

test('the target depth drops when many rows are queued', () => {
  const scheduler = createFairScheduler();
  scheduler.add(endpoints('few', 10, 10));
  expect(scheduler.saturated()).toEqual({ without: [], others: 100 });
  scheduler.add(endpoints('many', 300, 10));
  expect(scheduler.saturated().others).toBe(0);
});

test('a queued or running row is not added twice', () => {
  const scheduler = createFairScheduler();
  const [row] = rows('a', 1) as [Candidate];
  scheduler.add([row, row]);
  expect(scheduler.take()).toEqual([row]);
  scheduler.add([row]);
  expect(scheduler.take()).toEqual([]);
  expect(scheduler.saturated().others).toBe(1);
  scheduler.release(row);
  scheduler.add([row]);
  expect(scheduler.take()).toEqual([row]);
});

describe('slots of an organization', () => {
  test('a single organization gets about half of the unreserved slots', () => {
    const scheduler = createFairScheduler();
    scheduler.add(endpoints('big', 50, 4));
    expect(scheduler.take()).toHaveLength((perProcess - 32) / 2);
    scheduler.add(rows('small', 4));
    expect(toEndpoints(scheduler.take())).toEqual(['small', 'small', 'small', 'small']);
  });

  test('an organization without slots always gets its first slot', () => {
    const scheduler = createFairScheduler();
    for (let at = 0; at < 20; at += 1) scheduler.add(endpoints(`org${at}`, 50, 4));
    scheduler.take();
    scheduler.add(rows('late', 2));
    expect(toEndpoints(scheduler.take())).toEqual(['late']);
  });
});

test('dropped rows can be added again', () => {
  const scheduler = createFairScheduler();
  const all = rows('a', 3);
  scheduler.add(all);
  scheduler.drop('a');
  expect(scheduler.take()).toEqual([]);
  scheduler.add(all);
  expect(scheduler.take()).toHaveLength(3);
});

describe('reserving slots', () => {
  const fourSlots = () => 4;

  test('reserve gives an endpoint no more slots than its limit', () => {
    const scheduler = createFairScheduler();
    const reserved = scheduler.reserve([...rows('a', 6), ...rows('b', 1)], (id) => (id === 'a' ? 2 : 4));
    expect(toEndpoints(reserved)).toEqual(['a', 'a', 'b']);
    expect(scheduler.free()).toBe(perProcess - 3);
    scheduler.add(rows('a', 6));
    expect(scheduler.take()).toHaveLength(2);
  });

  test('reserve skips endpoints with queued rows', () => {
    const scheduler = createFairScheduler();
    scheduler.add(rows('a', 1));
    expect(toEndpoints(scheduler.reserve([...rows('a', 1), ...rows('b', 1)], fourSlots))).toEqual(['b']);
  });

  test('reserve gives an organization no more than its share', () => {
    const scheduler = createFairScheduler();
    expect(scheduler.reserve(endpoints('one', 100, 4), fourSlots).length).toBeLessThan(perProcess / 2);
    expect(scheduler.reserve(endpoints('two', 1, 4), fourSlots)).toHaveLength(4);
  });

  test('a reserved row is not added again until its slot is released', () => {
    const scheduler = createFairScheduler();
    const reserved = scheduler.reserve(rows('a', 1), fourSlots);
    scheduler.add(reserved);
    expect(scheduler.take()).toEqual([]);
    for (const row of reserved) scheduler.release(row);
    scheduler.add(reserved);
    expect(scheduler.take()).toEqual(reserved);
  });
});

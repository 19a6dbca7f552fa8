/** Tests how slots are assigned to endpoints and organizations. */
import { describe, expect, test } from '@jest/globals';
import {
  type Candidate,
  createScheduler,
  maxQueuedPerEndpoint,
  perEndpoint,
  perProcess,
} from './dynamic-threshold-scheduler.ts';

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
    const scheduler = createScheduler(() => perEndpoint);
    scheduler.add([...rows('a', 6), ...rows('b', 1)]);
    expect(toEndpoints(scheduler.take())).toEqual(['a', 'a', 'a', 'a', 'b']);
    expect(scheduler.take()).toEqual([]);
  });

  test('an endpoint gets the next slot when one of its slots is released', () => {
    const scheduler = createScheduler(() => perEndpoint);
    scheduler.add(rows('a', 6));
    const [first] = scheduler.take() as [Candidate];
    scheduler.release(first);
    expect(scheduler.take()).toHaveLength(1);
  });

  test('an endpoint gets no more slots than its limit', () => {
    const scheduler = createScheduler((id) => (id === 'a' ? 1 : 0));
    scheduler.add([...rows('a', 3), ...rows('b', 3)]);
    expect(scheduler.hasRunnable()).toBe(true);
    expect(toEndpoints(scheduler.take())).toEqual(['a']);
    expect(scheduler.hasRunnable()).toBe(false);
  });

  test('endpoints take turns: those served last are served last again', () => {
    const scheduler = createScheduler(() => perEndpoint);
    scheduler.add(endpoints('big', 50, 8));
    const first = scheduler.take();
    first.forEach(scheduler.release);
    const served = new Set(toEndpoints(first));
    const second = new Set(toEndpoints(scheduler.take()));
    expect([served.size, second.size]).toEqual([28, 28]);
    expect(new Set([...served, ...second]).size).toBe(50);
  });

  test('an endpoint queues a limited number of rows and is full with them', () => {
    const scheduler = createScheduler(() => perEndpoint);
    scheduler.add(rows('a', maxQueuedPerEndpoint + 1));
    scheduler.add(rows('b', 3));
    expect(scheduler.fillLevel()).toEqual({ full: ['a'], others: 3 });
    let total = 0;
    for (let taken = scheduler.take(); taken.length > 0; taken = scheduler.take()) {
      total += taken.length;
      taken.forEach(scheduler.release);
    }
    expect(total).toBe(maxQueuedPerEndpoint + 3);
    expect(scheduler.fillLevel()).toEqual({ full: [], others: 0 });
    expect(scheduler.hasRunnable()).toBe(false);
  });
});

test('fewer rows make an endpoint full when many rows are queued', () => {
  const scheduler = createScheduler(() => perEndpoint);
  scheduler.add(endpoints('few', 10, 10));
  expect(scheduler.fillLevel()).toEqual({ full: [], others: 100 });
  scheduler.add(endpoints('many', 300, 10));
  expect(scheduler.fillLevel().others).toBe(0);
});

test('a queued or running row is not added twice', () => {
  const scheduler = createScheduler(() => perEndpoint);
  const [row] = rows('a', 1) as [Candidate];
  scheduler.add([row, row]);
  expect(scheduler.take()).toEqual([row]);
  scheduler.add([row]);
  expect(scheduler.take()).toEqual([]);
  expect(scheduler.fillLevel().others).toBe(1);
  scheduler.release(row);
  scheduler.add([row]);
  expect(scheduler.take()).toEqual([row]);
});

describe('slots of an organization', () => {
  test('a single organization gets about half of the unreserved slots', () => {
    const scheduler = createScheduler(() => perEndpoint);
    scheduler.add(endpoints('big', 50, 4));
    expect(scheduler.take()).toHaveLength((perProcess - 32) / 2);
    scheduler.add(rows('small', 4));
    expect(toEndpoints(scheduler.take())).toEqual(['small', 'small', 'small', 'small']);
  });

  test('an organization without slots always gets its first slot', () => {
    const scheduler = createScheduler(() => perEndpoint);
    for (let at = 0; at < 20; at += 1) scheduler.add(endpoints(`org${at}`, 50, 4));
    scheduler.take();
    scheduler.add(rows('late', 2));
    expect(toEndpoints(scheduler.take())).toEqual(['late']);
  });
});

test('dropped rows can be added again', () => {
  const scheduler = createScheduler(() => perEndpoint);
  const all = rows('a', 3);
  scheduler.add(all);
  scheduler.drop('a');
  expect(scheduler.take()).toEqual([]);
  scheduler.add(all);
  expect(scheduler.take()).toHaveLength(3);
});

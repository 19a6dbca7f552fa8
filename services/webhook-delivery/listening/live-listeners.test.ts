/** Tests that listeners are found with few queries, and that a new one is known in time. */
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import type { LiveListener } from '../store/listeners.ts';
import { createLiveListeners, maxListAgeMs } from './live-listeners.ts';

const organization_id = newId();
const created_at = new Date('2026-11-21T09:30:00Z');
const listener = { _id: newId(), organization_id, created_at };
const event = { organization_id, occurred_at: '2026-11-21T09:30:01.000Z' };

/** Creates the search over a list that can change, and counts its queries. */
function createFixture(list: LiveListener[], query = async () => [...list]) {
  const counts = { queries: 0 };
  const { find } = createLiveListeners({
    listLive() {
      counts.queries += 1;
      return query();
    },
  });
  return { find, counts };
}

test('many events share one query', async () => {
  const { find, counts } = createFixture([listener]);
  const found = await Promise.all(Array.from({ length: 100 }, () => find(event)));
  expect(new Set(found.flat())).toEqual(new Set([listener._id]));
  expect(counts.queries).toBe(1);
});

test('a new listener is known after the maximum age of the list', async () => {
  const list: LiveListener[] = [];
  const { find } = createFixture(list);
  expect(await find(event)).toEqual([]);
  list.push(listener);
  await pause(maxListAgeMs);
  expect(await find(event)).toEqual([listener._id]);
});

test('the age of the list counts from the start of its query', async () => {
  const { promise, resolve } = Promise.withResolvers<void>();
  const lists = [promise.then(() => []), Promise.resolve([listener])];
  const { find } = createFixture([], () => lists.shift() ?? Promise.reject(new Error('One query too many')));
  const first = find(event);
  await pause(maxListAgeMs);
  resolve();
  expect(await first).toEqual([]);
  expect(await find(event)).toEqual([listener._id]);
});

test('after a failed query, the next event queries again', async () => {
  const lists = [Promise.reject(new Error('down')), Promise.resolve([listener])];
  const { find } = createFixture([], () => lists.shift() ?? Promise.reject(new Error('One query too many')));
  await expect(find(event)).rejects.toThrow('down');
  expect(await find(event)).toEqual([listener._id]);
});

test('only listeners of the organization that started before get an event', async () => {
  const hour = 3_600_000;
  const others = [
    { ...listener, _id: newId(), organization_id: newId() },
    { ...listener, _id: newId(), created_at: new Date(Date.parse(event.occurred_at) + hour) },
  ];
  expect(await createFixture([...others, listener]).find(event)).toEqual([listener._id]);
});

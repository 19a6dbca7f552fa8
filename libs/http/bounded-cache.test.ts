/** Tests which entries a bounded cache keeps. */
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { createBoundedCache } from './bounded-cache.ts';

test('the least recently used entry is dropped above the limit', () => {
  const cache = createBoundedCache<string, number>(2);
  cache.set('a', 1).set('b', 2);
  cache.get('a');
  cache.set('c', 3);
  expect([...cache.keys()].toSorted()).toEqual(['a', 'c']);
});

test('an expired entry takes no memory, also if nothing reads it', async () => {
  const cache = createBoundedCache<string, number>(10, 20);
  cache.set('a', 1);
  expect(cache.size).toBe(1);
  while (cache.size > 0) await pause(5);
});

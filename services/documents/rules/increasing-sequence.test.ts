/** Tests the longest increasing subsequence against one that tries all subsequences. */
import { expect, test } from '@jest/globals';
import fc from 'fast-check';
import { findLongestIncreasing } from './increasing-sequence.ts';

/** The length of the longest increasing subsequence that starts after `last`. */
function measure([first, ...rest]: readonly number[], last = Number.NEGATIVE_INFINITY): number {
  if (first === undefined) return 0;
  const without = measure(rest, last);
  return first > last ? Math.max(without, 1 + measure(rest, first)) : without;
}

test('an increasing sequence of the maximum length is found', () => {
  const lists = fc.array(fc.integer({ min: 0, max: 12 }), { maxLength: 12 });
  fc.assert(
    fc.property(lists, (numbers) => {
      const found = numbers.filter((_, index) => findLongestIncreasing(numbers).has(index));
      expect(found).toEqual([...new Set(found)].sort((a, b) => a - b));
      expect(found).toHaveLength(measure(numbers));
    }),
    { seed: 26, numRuns: 500 },
  );
});

test('a number that was put to the end is the only one out of order', () =>
  expect([...findLongestIncreasing([1, 2, 3, 0])].sort()).toEqual([0, 1, 2]));

/** Finds which numbers of a list are already in order. */

/**
 * Returns the indexes of a longest strictly increasing subsequence (patience sorting), in O(n log n). Of several, it
 * returns the one whose last number is the smallest, and so on for the numbers before.
 */
export function findLongestIncreasing(numbers: readonly number[]): Set<number> {
  /** For each length, the index of the smallest number that ends a subsequence of this length. */
  const ends: number[] = [];
  const previous: (number | undefined)[] = [];
  const at = (index: number | undefined) => numbers[index ?? -1] ?? Number.NEGATIVE_INFINITY;
  for (const [index, number] of numbers.entries()) {
    let [low, high] = [0, ends.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (at(ends[middle]) < number) low = middle + 1;
      else high = middle;
    }
    previous.push(ends[low - 1]);
    ends[low] = index;
  }
  const found = new Set<number>();
  for (let index = ends.at(-1); index !== undefined; index = previous[index]) found.add(index);
  return found;
}

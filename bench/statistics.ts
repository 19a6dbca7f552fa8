/** Summarizes measured values: median, minimum and maximum. */

/** Median with the minimum and the maximum. */
export interface Spread {
  median: number;
  min: number;
  max: number;
}

/** Computes the spread. `values` must not be empty. */
export function toSpread(values: readonly number[]): Spread {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (index: number) => sorted[index] ?? Number.NaN;
  const middle = (sorted.length - 1) / 2;
  return {
    median: (at(Math.floor(middle)) + at(Math.ceil(middle))) / 2,
    min: at(0),
    max: at(sorted.length - 1),
  };
}

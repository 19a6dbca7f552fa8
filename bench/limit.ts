/** Limits: goals for durations, memory and rates, most of them absolute. */
import type { BenchFixture } from './fixture.ts';
import { toSpread } from './statistics.ts';

/** A measured value with a goal. */
export interface Limit {
  name: string;
  unit: 's' | 'ms' | 'MB' | '/s' | '%';
  /** Upper limit of the statistic; lower limit with `isMinimum`. */
  goal: number;
  /** Whether the goal is a lower limit. */
  isMinimum?: true;
  /** Whether the goal is a multiple of the statistic of the baseline. */
  isRatio?: true;
  /** The statistic that is compared with the goal. */
  statistic: 'p50' | 'p95' | 'p99' | 'median' | 'largest';
  remark?: string;
  /** Measures the service; `share` is the fraction of the default number of measurements, for quick runs. */
  measure(fixture: BenchFixture, share: number): Promise<readonly number[]>;
  /** Measures the baseline in the same way. */
  measureBaseline?(fixture: BenchFixture, share: number): Promise<readonly number[]>;
}

/** The result of a limit. */
export interface LimitResult
  extends Pick<Limit, 'name' | 'unit' | 'goal' | 'isMinimum' | 'isRatio' | 'statistic' | 'remark'> {
  /** The statistic of the service. */
  value: number;
  /** The statistic of the baseline. */
  baseline?: number;
  median: number;
  /** Number of measured values. */
  count: number;
}

/** Measures one limit. */
export async function measureLimit(limit: Limit, fixture: BenchFixture, share: number): Promise<LimitResult> {
  const { name, unit, goal, isMinimum, isRatio, statistic, remark } = limit;
  const values = (await limit.measure(fixture, share)).toSorted((a, b) => a - b);
  if (isRatio && !limit.measureBaseline) throw new Error(`${name} needs a baseline`);
  const baselineValues = (await limit.measureBaseline?.(fixture, share))?.toSorted((a, b) => a - b);
  return {
    name,
    unit,
    goal,
    ...(isMinimum && { isMinimum }),
    ...(isRatio && { isRatio }),
    statistic,
    ...(remark !== undefined && { remark }),
    value: toStatistic(values, statistic),
    ...(baselineValues && { baseline: toStatistic(baselineValues, statistic) }),
    median: toSpread(values).median,
    count: values.length,
  };
}

/** Computes the statistic of sorted values. */
function toStatistic(values: readonly number[], statistic: Limit['statistic']): number {
  if (statistic === 'median') return toSpread(values).median;
  return values[Math.ceil(values.length * (percentiles[statistic] ?? 1)) - 1] ?? Number.NaN;
}

const percentiles: Partial<Record<Limit['statistic'], number>> = { p50: 0.5, p95: 0.95, p99: 0.99 };

/** Returns whether the goal is met. */
export function isMet({
  value,
  baseline = Number.NaN,
  goal,
  isMinimum,
  isRatio,
}: Omit<LimitResult, 'name'>): boolean {
  const compared = isRatio ? value / baseline : value;
  return isMinimum ? compared >= goal : compared <= goal;
}

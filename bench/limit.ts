/** Promises in plain numbers: times that nobody should have to wait longer than, memory that no process should need more of. */
import type { BenchFixture } from './fixture.ts';
import { spreadOf } from './statistics.ts';

/** One such promise. */
export interface Limit {
  name: string;
  unit: 'ms' | 'MB' | '/s' | '%';
  /** What the number that counts is to stay below. */
  goal: number;
  /** The goal is to be reached instead. */
  atLeast?: true;
  /** Which number counts: what 50, 95 or 99 of 100 stayed below, the median, or the largest. */
  counts: 'p50' | 'p95' | 'p99' | 'median' | 'largest';
  remark?: string;
  /** Measures; `share` of the usual number, for quick runs. */
  take(stage: BenchFixture, share: number): Promise<readonly number[]>;
  /** The same of the floor. */
  takeFloor?(stage: BenchFixture, share: number): Promise<readonly number[]>;
}

/** What was measured. */
export interface LimitResult extends Pick<Limit, 'name' | 'unit' | 'goal' | 'atLeast' | 'counts' | 'remark'> {
  /** The number that counts. */
  value: number;
  /** The number that counts, of the floor. */
  floor?: number;
  median: number;
  measured: number;
}

/** Measures one promise. */
export async function measureLimit(timing: Limit, stage: BenchFixture, share: number): Promise<LimitResult> {
  const { name, unit, goal, atLeast, counts, remark } = timing;
  const values = (await timing.take(stage, share)).toSorted((a, b) => a - b);
  const ofFloor = (await timing.takeFloor?.(stage, share))?.toSorted((a, b) => a - b);
  return {
    name,
    unit,
    goal,
    ...(atLeast && { atLeast }),
    counts,
    ...(remark !== undefined && { remark }),
    value: counting(values, counts),
    ...(ofFloor && { floor: counting(ofFloor, counts) }),
    median: spreadOf(values).median,
    measured: values.length,
  };
}

/** Of numbers in their order. */
function counting(values: readonly number[], counts: Limit['counts']): number {
  if (counts === 'median') return spreadOf(values).median;
  return values[Math.ceil(values.length * (shares[counts] ?? 1)) - 1] ?? Number.NaN;
}

const shares: Partial<Record<Limit['counts'], number>> = { p50: 0.5, p95: 0.95, p99: 0.99 };

/** Whether what was measured is as it should be. */
export function isMet({ value, goal, atLeast }: Pick<LimitResult, 'value' | 'goal' | 'atLeast'>): boolean {
  return atLeast ? value >= goal : value <= goal;
}

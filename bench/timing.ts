/** Promises in plain numbers: times that nobody should have to wait longer than, memory that no process should need more of. */
import type { Stage } from './stage.ts';
import { spreadOf } from './statistics.ts';

/** One such promise. */
export interface Timing {
  name: string;
  unit: 'ms' | 'MB';
  /** What the number that counts is to stay below. */
  goal: number;
  /** Which number counts: what 95 of 100 stayed below, or the largest. */
  counts: 'p95' | 'largest';
  remark?: string;
  /** Measures; `share` of the usual number, for quick runs. */
  take(stage: Stage, share: number): Promise<readonly number[]>;
}

/** What was measured. */
export interface TimingResult extends Pick<Timing, 'name' | 'unit' | 'goal' | 'counts' | 'remark'> {
  /** The number that counts. */
  value: number;
  median: number;
  measured: number;
}

/** Measures one promise. */
export async function taken(timing: Timing, stage: Stage, share: number): Promise<TimingResult> {
  const { name, unit, goal, counts, remark } = timing;
  const values = (await timing.take(stage, share)).toSorted((a, b) => a - b);
  const at = counts === 'p95' ? Math.ceil(values.length * 0.95) - 1 : values.length - 1;
  return {
    name,
    unit,
    goal,
    counts,
    ...(remark !== undefined && { remark }),
    value: values[at] ?? Number.NaN,
    median: spreadOf(values).median,
    measured: values.length,
  };
}

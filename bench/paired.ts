/**
 * Paired rows: they compare two kinds of requests to the service with each other instead of with a baseline.
 */
import { setTimeout as pause } from 'node:timers/promises';
import type { BenchFixture, Side } from './fixture.ts';
import type { RequestSource } from './load.ts';
import { getPreciseCpuMs } from './process-usage.ts';
import type { PreparedRow, Row, Sample } from './row.ts';
import { toSpread } from './statistics.ts';

const defaultSlices = 20;
const sliceSize = 40;
const sides: readonly Side[] = ['service', 'baseline'];

/** Declaration of a paired row. */
export interface PairedRow {
  name: string;
  goal: number;
  /** Describes the second kind of requests, which takes the place of the baseline. */
  pairedWith: string;
  prepare(fixture: BenchFixture, share: number): Promise<readonly [Slice, Slice]>;
  /** Returns whether the background work of a slice is done. Its CPU time counts. */
  isSettled?(fixture: BenchFixture): Promise<boolean>;
}

/** Creates the requests of one slice, outside the measured time. */
export type Slice = (count: number) => RequestSource | Promise<RequestSource>;

/**
 * Declares a paired row. The two kinds alternate in small slices, because a few percent matter and other load
 * on the machine changes by more than that from one second to the next.
 */
export function pairedRow({ name, goal, pairedWith, prepare, isSettled }: PairedRow): Row {
  return {
    name,
    goal,
    remark: `paired with requests ${pairedWith}`,
    unit: 'request',
    async prepare(fixture, share) {
      const [first, second] = await prepare(fixture, share);
      const { pid } = fixture.processes.service;
      const kinds: Record<Side, Slice> = { service: first, baseline: second };
      const measureSlice = async (side: Side): Promise<Sample> => {
        const requests = await kinds[side](sliceSize);
        const cpuBefore = getPreciseCpuMs(pid);
        const startedAt = performance.now();
        await fixture.clients.service.load(sliceSize, requests);
        const wallMs = performance.now() - startedAt;
        while (isSettled && !(await isSettled(fixture))) await pause(5);
        return { count: sliceSize, wallMs, cpuMs: getPreciseCpuMs(pid) - cpuBefore };
      };
      return { batch: alternate(measureSlice, share) };
    },
  };
}

/** Measures both sides alternately, slice by slice. The result of a batch is the median slice. */
export function alternate(
  measureSlice: (side: Side) => Promise<Sample>,
  share: number,
): PreparedRow['batch'] {
  const rounds = Math.max(1, Math.round(defaultSlices * share));
  let pair: Record<Side, Sample[]> = { service: [], baseline: [] };
  // both sides are measured when the batch of the service is requested
  return async (side) => {
    if (side === 'service') {
      pair = { service: [], baseline: [] };
      for (let round = 0; round < rounds; round += 1)
        for (const next of round % 2 === 0 ? sides : sides.toReversed())
          pair[next].push(await measureSlice(next));
    }
    return medianSample(pair[side]);
  };
}

/** Returns the median of the slices, because a garbage collection affects only some of them. */
function medianSample(samples: readonly Sample[]): Sample {
  const median = (getValue: (sample: Sample) => number) => toSpread(samples.map(getValue)).median;
  const { count = 0 } = samples[0] ?? {};
  return { count, wallMs: median(({ wallMs }) => wallMs), cpuMs: median(({ cpuMs }) => cpuMs) };
}

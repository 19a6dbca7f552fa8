/** Rows that set two kinds of requests against each other, both answered by ours: no floor could tell whether they cost the same. */
import { setTimeout as pause } from 'node:timers/promises';
import type { BenchFixture, Side } from './fixture.ts';
import type { Requests } from './load.ts';
import { fineCpuMsOf } from './process-usage.ts';
import type { Prepared, Row, Sample } from './row.ts';
import { spreadOf } from './statistics.ts';

const slices = 20;
const slice = 40;
const sides: readonly Side[] = ['ours', 'floor'];

/** A row of two kinds of requests. */
export interface PairedRow {
  name: string;
  goal: number;
  /** What the second kind is, which stands where the floor does elsewhere. */
  against: string;
  prepare(stage: BenchFixture, share: number): Promise<readonly [Slice, Slice]>;
  /** Whether the background work of a slice is done; its CPU time counts. */
  settled?(stage: BenchFixture): Promise<boolean>;
}

/** Makes the requests of one slice, outside of the measured time. */
export type Slice = (count: number) => Requests | Promise<Requests>;

/**
 * Declares a row of two kinds. They take turns in small slices, because a few percent between them count, and what else the
 * machine does changes more than that from one second to the next.
 */
export function pairedRow({ name, goal, against, prepare, settled }: PairedRow): Row {
  return {
    name,
    goal,
    remark: `floor: ours too, ${against}`,
    unit: 'request',
    async prepare(stage, share) {
      const [one, other] = await prepare(stage, share);
      const { pid } = stage.programs.ours;
      const kinds: Record<Side, Slice> = { ours: one, floor: other };
      const measured = async (side: Side): Promise<Sample> => {
        const requests = await kinds[side](slice);
        const cpuBefore = fineCpuMsOf(pid);
        const startedAt = performance.now();
        await stage.clients.ours.load(slice, requests);
        const wallMs = performance.now() - startedAt;
        while (settled && !(await settled(stage))) await pause(5);
        return { count: slice, wallMs, cpuMs: fineCpuMsOf(pid) - cpuBefore };
      };
      return { batch: alternate(measured, share) };
    },
  };
}

/** Measures both sides in turns, slice by slice; a batch is the slice in the middle. `share` of the usual number of slices. */
export function alternate(measured: (side: Side) => Promise<Sample>, share: number): Prepared['batch'] {
  const turns = Math.max(1, Math.round(slices * share));
  let pair: Record<Side, Sample[]> = { ours: [], floor: [] };
  // both halves of a pair are measured when the first is asked for
  return async (side) => {
    if (side === 'ours') {
      pair = { ours: [], floor: [] };
      for (let turn = 0; turn < turns; turn += 1)
        for (const next of turn % 2 === 0 ? sides : sides.toReversed()) pair[next].push(await measured(next));
    }
    return middleOf(pair[side]);
  };
}

/** The slice in the middle: a garbage collection falls into one slice and not into the next. */
function middleOf(samples: readonly Sample[]): Sample {
  const of = (value: (sample: Sample) => number) => spreadOf(samples.map(value)).median;
  const { count = 0 } = samples[0] ?? {};
  return { count, wallMs: of(({ wallMs }) => wallMs), cpuMs: of(({ cpuMs }) => cpuMs) };
}

/** Measures rows: ours and the floor in turns, so that whatever else the machine does hits both. */

import type { FileResult } from './files/table.ts';
import { type BenchFixture, openStage, type Side } from './fixture.ts';
import { type Limit, type LimitResult, measureLimit } from './limit.ts';
import { rssMbOf } from './process-usage.ts';
import type { Row, Sample } from './row.ts';
import { type Spread, spreadOf } from './statistics.ts';

/** What was measured on one side: CPU time for one, how many there were in a second, and how long 99 of 100 took at most. */
export interface SideResult {
  cpuMs: Spread;
  perSecond: Spread;
  p99Ms?: Spread;
}

/** A measured row; the ratios are ours to floor, pair by pair. */
export interface Result
  extends Pick<Row, 'name' | 'goal' | 'p99Goal' | 'remark' | 'unit' | 'beside'>,
    Record<Side, SideResult> {
  cpuRatio: Spread;
  rateRatio: Spread;
  /** Of what 99 of 100 requests did not take longer than; only for requests. */
  p99Ratio?: Spread;
}

/** Everything that was measured in one run. */
export interface Measured {
  results: Result[];
  timings: LimitResult[];
  /** What Word files took, made in several ways. */
  files: FileResult[];
  /** Resident memory after all rows, MB. */
  rssMb: Record<Side, number>;
  mongodb: string;
}

/** How to measure. */
export interface Measuring {
  mongoUri: string;
  rows: readonly Row[];
  timings: readonly Limit[];
  /** Pairs of batches for each row, after a warm-up. */
  batches: number;
  /** Share of the usual batch. */
  share: number;
  /** Aborted when the run is to end early. */
  signal?: AbortSignal;
  /** A folder that gets a CPU profile of either side. */
  profile?: string;
  /** Told of each row as soon as it is measured. */
  done(result: Result): void;
  /** Told of each promise as soon as it is measured. */
  told(result: LimitResult): void;
  /** Told of a row that this machine cannot measure. */
  leftOut?(name: string, reason: string): void;
}

/** Starts both sides over a database of their own, measures the rows one after the other, and takes everything away again. */
export async function measure(measuring: Measuring): Promise<Measured> {
  const stage = await openStage(measuring.mongoUri, measuring.profile);
  try {
    const results: Result[] = [];
    for (const row of measuring.rows) {
      const result = await measureRow(row, stage, measuring);
      if (!result) continue;
      results.push(result);
      measuring.done(result);
    }
    const { ours, floor } = stage.programs;
    const rssMb = { ours: rssMbOf(ours.pid), floor: rssMbOf(floor.pid) };
    const timings: LimitResult[] = [];
    for (const timing of measuring.timings) {
      measuring.signal?.throwIfAborted();
      await settled(stage);
      const result = await measureLimit(timing, stage, measuring.share);
      timings.push(result);
      measuring.told(result);
    }
    const { version } = await stage.db.admin().buildInfo();
    return { results, timings, files: [], rssMb, mongodb: String(version) };
  } finally {
    await stage.close();
  }
}

/** What was written before is on the disk: otherwise MongoDB brings it there while the next row is measured. */
async function settled({ db }: BenchFixture): Promise<void> {
  await db.admin().command({ fsync: 1 });
}

/** Pairs that are not counted. */
const warmUps = 2;

async function measureRow(
  row: Row,
  stage: BenchFixture,
  { batches, share, signal, leftOut }: Measuring,
): Promise<Result | undefined> {
  const prepared = await row.prepare(stage, share);
  await settled(stage);
  if (typeof prepared === 'string') {
    leftOut?.(row.name, prepared);
    return undefined;
  }
  try {
    for (let times = 0; times < warmUps; times += 1) {
      await prepared.batch('ours');
      await prepared.batch('floor');
    }
    const pairs: Record<Side, Sample>[] = [];
    while (pairs.length < batches) {
      signal?.throwIfAborted();
      pairs.push({ ours: await prepared.batch('ours'), floor: await prepared.batch('floor') });
    }
    return resultOf(row, pairs);
  } finally {
    await prepared.end?.();
  }
}

function resultOf(
  { name, goal, p99Goal, remark, unit, beside }: Row,
  pairs: readonly Record<Side, Sample>[],
): Result {
  const of = (value: (pair: Record<Side, Sample>) => number) => spreadOf(pairs.map(value));
  const timed = pairs.every(({ ours, floor }) => ours.p99Ms !== undefined && floor.p99Ms !== undefined);
  const side = (one: Side) => ({
    cpuMs: of((pair) => cpuOf(pair[one])),
    perSecond: of((pair) => rateOf(pair[one])),
    ...(timed && { p99Ms: of((pair) => pair[one].p99Ms ?? Number.NaN) }),
  });
  return {
    name,
    ...(goal !== undefined && { goal }),
    ...(p99Goal !== undefined && { p99Goal }),
    ...(remark !== undefined && { remark }),
    unit,
    ...(beside && { beside }),
    ours: side('ours'),
    floor: side('floor'),
    cpuRatio: of(({ ours, floor }) => cpuOf(ours) / cpuOf(floor)),
    rateRatio: of(({ ours, floor }) => rateOf(ours) / rateOf(floor)),
    ...(timed && { p99Ratio: of(({ ours, floor }) => (ours.p99Ms ?? 0) / (floor.p99Ms ?? 0)) }),
  };
}

function cpuOf({ cpuMs, count }: Sample): number {
  return cpuMs / count;
}

function rateOf({ wallMs, count }: Sample): number {
  return (count / wallMs) * 1000;
}

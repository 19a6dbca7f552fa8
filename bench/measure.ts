/** Measures rows and limits. The service and the baseline alternate, so that other load affects both. */
import type { FileResult } from './files/measure.ts';
import { type BenchFixture, createFixture, type Side } from './fixture.ts';
import { type Limit, type LimitResult, measureLimit } from './limit.ts';
import { getRssMb } from './process-usage.ts';
import type { Row, Sample } from './row.ts';
import { type Spread, toSpread } from './statistics.ts';
import type { GrowthResult } from './system/growth.ts';
import type { SystemResult } from './system/measure.ts';

/** Measurements of one side: CPU time per unit, units per second, and p99 latency. */
export interface SideResult {
  cpuMs: Spread;
  perSecond: Spread;
  p99Ms?: Spread;
}

/** A measured row. The ratios are service to baseline, per pair of batches. */
export interface Result
  extends Pick<Row, 'name' | 'goal' | 'p99Goal' | 'remark' | 'unit' | 'withoutRatio'>,
    Record<Side, SideResult> {
  cpuRatio: Spread;
  rateRatio: Spread;
  /** Only for rows of requests. */
  p99Ratio?: Spread;
}

/** All results of one run. */
export interface Measurements {
  results: Result[];
  limits: LimitResult[];
  /** The cost of Word files with several renderers. */
  files: FileResult[];
  /** The cost of whole systems. */
  systems: SystemResult[];
  /** The cost with ten times the data. */
  growth: GrowthResult[];
  /** Resident memory after all rows and limits, MB. */
  rssMb: Record<Side, number>;
  mongodb: string;
}

/** Options of a run. */
export interface MeasureOptions {
  mongoUri: string;
  rows: readonly Row[];
  limits: readonly Limit[];
  /** Pairs of batches per row, after the warm-up. */
  batches: number;
  /** Fraction of the default batch size. */
  share: number;
  /** Stops the run early. */
  signal?: AbortSignal;
  /** Folder for a CPU profile of each side. */
  profile?: string;
  /** Called after each row. */
  onResult(result: Result): void;
  /** Called after each limit. */
  onLimit(result: LimitResult): void;
  /** Called for each row that cannot run on this machine. */
  onSkipped?(name: string, reason: string): void;
}

/** Starts both sides with a new database, measures the rows and limits one after the other, and cleans up. */
export async function measure(options: MeasureOptions): Promise<Measurements> {
  const fixture = await createFixture(options);
  try {
    const results: Result[] = [];
    for (const row of options.rows) {
      const result = await measureRow(row, fixture, options);
      if (!result) continue;
      results.push(result);
      options.onResult(result);
    }
    const limits: LimitResult[] = [];
    for (const limit of options.limits) {
      options.signal?.throwIfAborted();
      await flushToDisk(fixture);
      const result = await measureLimit(limit, fixture, options.share);
      limits.push(result);
      options.onLimit(result);
    }
    const { service, baseline } = fixture.processes;
    const rssMb = { service: getRssMb(service.pid), baseline: getRssMb(baseline.pid) };
    const { version } = await fixture.db.admin().buildInfo();
    return { results, limits, files: [], systems: [], growth: [], rssMb, mongodb: String(version) };
  } finally {
    await fixture.close();
  }
}

/** Flushes earlier writes to disk, because MongoDB would otherwise do so during the next measurement. */
async function flushToDisk({ db }: BenchFixture): Promise<void> {
  await db.admin().command({ fsync: 1 });
}

/** Pairs of batches before the measurement, which are not counted. */
export const warmUpPairs = 2;

async function measureRow(
  row: Row,
  fixture: BenchFixture,
  { batches, share, signal, onSkipped }: MeasureOptions,
): Promise<Result | undefined> {
  const prepared = await row.prepare(fixture, share);
  await flushToDisk(fixture);
  if (typeof prepared === 'string') {
    onSkipped?.(row.name, prepared);
    return undefined;
  }
  try {
    for (let times = 0; times < warmUpPairs; times += 1) {
      await prepared.batch('service');
      await prepared.batch('baseline');
    }
    const pairs: Record<Side, Sample>[] = [];
    while (pairs.length < batches) {
      signal?.throwIfAborted();
      pairs.push({ service: await prepared.batch('service'), baseline: await prepared.batch('baseline') });
    }
    return toResult(row, pairs);
  } finally {
    await prepared.end?.();
  }
}

/** Summarizes the pairs of batches of a row. */
export function toResult(
  { name, goal, p99Goal, remark, unit, withoutRatio }: Omit<Row, 'prepare'>,
  pairs: readonly Record<Side, Sample>[],
): Result {
  const spreadOver = (getValue: (pair: Record<Side, Sample>) => number) => toSpread(pairs.map(getValue));
  const hasLatency = pairs.every(
    ({ service, baseline }) => service.p99Ms !== undefined && baseline.p99Ms !== undefined,
  );
  const toSideResult = (side: Side) => ({
    cpuMs: spreadOver((pair) => cpuPerUnit(pair[side])),
    perSecond: spreadOver((pair) => unitsPerSecond(pair[side])),
    ...(hasLatency && { p99Ms: spreadOver((pair) => pair[side].p99Ms ?? Number.NaN) }),
  });
  return {
    name,
    ...(goal !== undefined && { goal }),
    ...(p99Goal !== undefined && { p99Goal }),
    ...(remark !== undefined && { remark }),
    unit,
    ...(withoutRatio && { withoutRatio }),
    service: toSideResult('service'),
    baseline: toSideResult('baseline'),
    cpuRatio: spreadOver(({ service, baseline }) => cpuPerUnit(service) / cpuPerUnit(baseline)),
    rateRatio: spreadOver(({ service, baseline }) => unitsPerSecond(service) / unitsPerSecond(baseline)),
    ...(hasLatency && {
      p99Ratio: spreadOver(({ service, baseline }) => (service.p99Ms ?? 0) / (baseline.p99Ms ?? 0)),
    }),
  };
}

function cpuPerUnit({ cpuMs, count }: Sample): number {
  return cpuMs / count;
}

function unitsPerSecond({ wallMs, count }: Sample): number {
  return (count / wallMs) * 1000;
}

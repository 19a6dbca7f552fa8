/** What the benchmarks measured last, by the names of its rows: what is not there cannot be asked for. */
import { z } from 'zod';

const median = z.object({ median: z.number() });
const results = z.object({
  date: z.string(),
  commit: z.string(),
  machine: z.object({ cores: z.number() }),
  rssMb: z.object({ ours: z.number() }),
  rows: z.record(
    z.string(),
    z.object({
      ours: z.object({ cpuMs: median, perSecond: median }),
      cpuRatio: median.optional(),
      p99Ratio: median.optional(),
    }),
  ),
  timings: z.record(z.string(), z.object({ value: z.number(), meets: z.boolean().nullable() })),
});

/** Reads the kept results of a whole run; each function throws for a row that it does not have. */
export function measured(kept: unknown) {
  const { date, commit, machine, rssMb, rows, timings } = results.parse(kept);
  const row = (name: string) => there(rows[name], name);
  const timing = (name: string) => there(timings[name], name);
  return {
    date: date.slice(0, 10),
    commit,
    cores: machine.cores,
    /** Resident memory of the process after every row, MB. */
    memoryMb: rssMb.ours,
    /** CPU time of one, ms. */
    cpuMs: (name: string) => row(name).ours.cpuMs.median,
    perSecond: (name: string) => row(name).ours.perSecond.median,
    /** Against the floor of the row, or against ours without what the row adds. */
    cpuRatio: (name: string) => there(row(name).cpuRatio, name).median,
    p99Ratio: (name: string) => there(row(name).p99Ratio, name).median,
    /** What counts of a timing, in its unit. */
    timing: (name: string) => timing(name).value,
    isMet: (name: string) => timing(name).meets === true,
  };
}

function there<T>(found: T | undefined, name: string): T {
  if (found === undefined) throw new Error(`The benchmarks have not measured ${name}`);
  return found;
}

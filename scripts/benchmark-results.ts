/** Reads saved benchmark results by row name. Unknown rows throw. */
import { z } from 'zod';

const median = z.object({ median: z.number() });
const resultsSchema = z.object({
  date: z.string(),
  commit: z.string(),
  machine: z.object({ cores: z.number() }),
  rssMb: z.object({ service: z.number() }),
  rows: z.record(
    z.string(),
    z.object({
      service: z.object({ cpuMs: median, perSecond: median }),
      cpuRatio: median.optional(),
      p99Ratio: median.optional(),
    }),
  ),
  limits: z.record(z.string(), z.object({ value: z.number(), meets: z.boolean().nullable() })),
  systems: z.array(
    z.object({
      name: z.string(),
      service: z.object({ own: z.number(), mongodb: z.number(), broker: z.number().default(0) }),
    }),
  ),
});

/** Parses the saved results of a complete run. Each returned function throws if the run has no such row. */
export function parseResults(json: unknown) {
  const { date, commit, machine, rssMb, rows, limits, systems } = resultsSchema.parse(json);
  const row = (name: string) => assertMeasured(rows[name], name);
  const limit = (name: string) => assertMeasured(limits[name], name);
  return {
    date: date.slice(0, 10),
    commit,
    cores: machine.cores,
    /** Resident memory of the service process after its requests, MB. */
    memoryMb: rssMb.service,
    /** CPU time per unit, ms. */
    cpuMs: (name: string) => row(name).service.cpuMs.median,
    perSecond: (name: string) => row(name).service.perSecond.median,
    /** CPU time of a request to a whole system, ms: of the services, MongoDB and RabbitMQ. */
    systemCpuMs: (name: string) =>
      assertMeasured(
        systems.find((system) => system.name === name),
        name,
      ).service,
    /** Relative to the baseline or, in a paired row, to the second kind of requests. */
    cpuRatio: (name: string) => assertMeasured(row(name).cpuRatio, name).median,
    p99Ratio: (name: string) => assertMeasured(row(name).p99Ratio, name).median,
    /** The statistic of a limit, in its unit. */
    limit: (name: string) => limit(name).value,
    isMet: (name: string) => limit(name).meets === true,
  };
}

function assertMeasured<T>(result: T | undefined, name: string): T {
  if (result === undefined) throw new Error(`The benchmark results do not contain "${name}"`);
  return result;
}

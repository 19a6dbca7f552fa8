/** Meters: what keeps the numbers of declared metrics, and tells them in Prometheus' words. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { CounterDef, GaugeDef, HistogramDef, Labels, LabelsFor, Metric } from './metric-definition.ts';

/**
 * Keeps numbers of declared metrics; those of a service have the label `service` by themselves. Throws for
 * one that is not declared.
 */
export interface Meters {
  /** Gives what adds to it. */
  counter<L extends Labels>(counterDef: CounterDef<L>): (labels: LabelsFor<L>, count?: number) => void;
  /** Gives what adds a value. */
  histogram<L extends Labels>(histogramDef: HistogramDef<L>): (labels: LabelsFor<L>, value: number) => void;
  /** Says how it is read. Where that fails there is no number, which is better than the last one. */
  gauge<L extends Labels>(gaugeDef: GaugeDef<L>, read: () => GaugeValues<L> | Promise<GaugeValues<L>>): void;
}

/** What is read: one number, or one for each of some labels. */
export type GaugeValues<L extends Labels> = number | readonly (readonly [LabelsFor<L>, number])[];

/** The numbers of a process. */
export interface MetricRegistry {
  /** Meters of what is declared: those of a service, or of the process itself. */
  meters(declared: readonly Metric[], service?: string): Meters;
  /** All of them as text, with its type. */
  render(): Promise<{ type: string; text: string }>;
}

type Labelled = Record<string, string>;
/** Reads the numbers of one service. */
type GaugeReader = () => Promise<readonly (readonly [Labelled, number])[]>;

/** A meter that also tells what the runtime knows of itself. */
export function createMetricRegistry(): MetricRegistry {
  const register = createRuntimeRegistry();
  const counters = new Map<string, Counter>();
  const histograms = new Map<string, Histogram>();
  const gauges = new Map<string, GaugeReader[]>();

  return {
    meters(declared, service) {
      const serviceLabel: Labelled = service === undefined ? {} : { service };
      const requireDeclared = <M extends Metric>(options: M): M => {
        if (!declared.includes(options))
          throw new Error(`${options.name} is no declared metric of ${service}`);
        return options;
      };
      const toConfig = ({ name, help, labels }: Metric) => ({
        name,
        help,
        labelNames: [...Object.keys(serviceLabel), ...Object.keys(labels)],
        registers: [register],
      });
      return {
        counter(counterDef) {
          const metric = getOrCreate(
            counters,
            requireDeclared(counterDef),
            () => new Counter(toConfig(counterDef)),
          );
          return (labels, count = 1) => metric.inc({ ...serviceLabel, ...labels }, count);
        },
        histogram(histogramDef) {
          const metric = getOrCreate(
            histograms,
            requireDeclared(histogramDef),
            () => new Histogram({ ...toConfig(histogramDef), buckets: [...histogramDef.buckets] }),
          );
          return (labels, value) => metric.observe({ ...serviceLabel, ...labels }, value);
        },
        gauge(gaugeDef, read) {
          const readers = getOrCreate(gauges, requireDeclared(gaugeDef), () =>
            createGauge(toConfig(gaugeDef)),
          );
          readers.push(async () => {
            const numbers = await read();
            if (typeof numbers === 'number') return [[serviceLabel, numbers]];
            return numbers.map(
              ([labels, value]) => [{ ...serviceLabel, ...(labels as Labelled) }, value] as const,
            );
          });
        },
      };
    },
    async render() {
      return { type: register.contentType, text: await register.metrics() };
    },
  };
}

/** A meter that keeps nothing. */
export const noopRegistry: MetricRegistry = {
  meters: () => ({
    counter: () => () => undefined,
    histogram: () => () => undefined,
    gauge: () => undefined,
  }),
  render: async () => ({ type: 'text/plain', text: '' }),
};

/** Several services of one process tell the same metric. */
function getOrCreate<T>(all: Map<string, T>, { name }: Metric, make: () => T): T {
  const found = all.get(name) ?? make();
  all.set(name, found);
  return found;
}

/** A gauge of which each service reads its part. */
function createGauge(named: ConstructorParameters<typeof Gauge>[0]): GaugeReader[] {
  const reads: GaugeReader[] = [];
  new Gauge({
    ...named,
    async collect() {
      const results = await Promise.allSettled(reads.map((read) => withTimeout(read())));
      this.reset();
      for (const result of results)
        if (result.status === 'fulfilled')
          for (const [labels, value] of result.value) this.set(labels, value);
    },
  });
  return reads;
}

/**
 * Whoever asks for the page gives up in seconds, and would then know nothing: what cannot be read at once is
 * missing.
 */
const readTimeoutMs = 500;

function withTimeout<T>(reading: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(reject, readTimeoutMs, new Error('This could not be read in time'));
  });
  return Promise.race([reading, late]).finally(() => clearTimeout(timer));
}

/** What the runtime tells of itself under Node, by the library that asks it. */
export async function runtimeMetrics(): Promise<{ name: string; help: string; type: string }[]> {
  const found = await createRuntimeRegistry().getMetricsAsJSON();
  return found.map(({ name, help, type }) => ({ name, help, type: String(type) }));
}

const hourMs = 3_600_000;

/**
 * What the runtime tells, but for the spread of the event loop's lag: for that the library would wake the
 * process a hundred times a second. `event_loop_lag_seconds` is ours.
 */
function createRuntimeRegistry(): Registry {
  const register = new Registry();
  collectDefaultMetrics({ register, eventLoopMonitoringPrecision: hourMs });
  for (const { name } of register.getMetricsAsArray())
    if (name.startsWith('nodejs_eventloop_lag_') && name !== 'nodejs_eventloop_lag_seconds')
      register.removeSingleMetric(name);
  return register;
}

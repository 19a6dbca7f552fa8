/** Records declared metrics and renders them in the Prometheus format. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { CounterDef, GaugeDef, HistogramDef, Labels, LabelsFor, Metric } from './metric-definition.ts';

/**
 * Records declared metrics. Metrics of a service get a `service` label automatically. Throws for a metric
 * that is not declared.
 */
export interface Meters {
  /** Returns a function that increments the counter. */
  counter<L extends Labels>(counterDef: CounterDef<L>): (labels: LabelsFor<L>, count?: number) => void;
  /** Returns a function that observes a value. */
  histogram<L extends Labels>(histogramDef: HistogramDef<L>): (labels: LabelsFor<L>, value: number) => void;
  /**
   * Registers the function that reads the gauge at each scrape. If it fails, its values are missing from that
   * scrape; the previous ones are not repeated.
   */
  gauge<L extends Labels>(gaugeDef: GaugeDef<L>, read: () => GaugeValues<L> | Promise<GaugeValues<L>>): void;
}

/** The value of a gauge, or one value per combination of labels. */
export type GaugeValues<L extends Labels> = number | readonly (readonly [LabelsFor<L>, number])[];

/** All metrics of a process. */
export interface MetricRegistry {
  /** Returns the meters of declared metrics, for a service or for the process itself. */
  meters(declared: readonly Metric[], service?: string): Meters;
  /** Renders all metrics as text, with its content type. */
  render(): Promise<{ type: string; text: string }>;
}

type LabelValues = Record<string, string>;
/** Reads the gauge values of one service. */
type GaugeReader = () => Promise<readonly (readonly [LabelValues, number])[]>;

/** Creates a registry that also has the metrics of the runtime. */
export function createMetricRegistry(): MetricRegistry {
  const register = createRuntimeRegistry();
  const counters = new Map<string, Counter>();
  const histograms = new Map<string, Histogram>();
  const gauges = new Map<string, GaugeReader[]>();

  return {
    meters(declared, service) {
      const serviceLabel: LabelValues = service === undefined ? {} : { service };
      const requireDeclared = <M extends Metric>(metric: M): M => {
        if (!declared.includes(metric))
          throw new Error(`${metric.name} is not a declared metric of ${service ?? 'the process'}`);
        return metric;
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
            const values = await read();
            if (typeof values === 'number') return [[serviceLabel, values]];
            return values.map(
              ([labels, value]) => [{ ...serviceLabel, ...(labels as LabelValues) }, value] as const,
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

/** A registry that records nothing. */
export const noopRegistry: MetricRegistry = {
  meters: () => ({
    counter: () => () => undefined,
    histogram: () => () => undefined,
    gauge: () => undefined,
  }),
  render: async () => ({ type: 'text/plain', text: '' }),
};

/** Returns the metric of this name, or creates it. The services of one process share a metric. */
function getOrCreate<T>(metrics: Map<string, T>, { name }: Metric, create: () => T): T {
  const metric = metrics.get(name) ?? create();
  metrics.set(name, metric);
  return metric;
}

/** Creates a gauge and returns its list of readers, to which each service adds one for its own values. */
function createGauge(config: ConstructorParameters<typeof Gauge>[0]): GaugeReader[] {
  const readers: GaugeReader[] = [];
  new Gauge({
    ...config,
    async collect() {
      const results = await Promise.allSettled(readers.map((read) => withTimeout(read())));
      this.reset();
      for (const result of results)
        if (result.status === 'fulfilled')
          for (const [labels, value] of result.value) this.set(labels, value);
    },
  });
  return readers;
}

/**
 * How long reading a gauge may take, in milliseconds. A slower gauge is omitted, because otherwise the scraper
 * could time out and lose all metrics.
 */
const readTimeoutMs = 500;

function withTimeout<T>(reading: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<never>((_, reject) => {
    timer = setTimeout(reject, readTimeoutMs, new Error('Reading the metric timed out'));
  });
  return Promise.race([reading, timeout]).finally(() => clearTimeout(timer));
}

/** Returns name, help and type of the metrics of the Node runtime, which prom-client collects. */
export async function runtimeMetrics(): Promise<{ name: string; help: string; type: string }[]> {
  const found = await createRuntimeRegistry().getMetricsAsJSON();
  return found.map(({ name, help, type }) => ({ name, help, type: String(type) }));
}

const hourMs = 3_600_000;

/**
 * Creates a registry with the metrics of the runtime. Of the event loop lag it keeps only the current value. For
 * the statistics prom-client would wake the process a hundred times a second, so they are sampled hourly and
 * removed; `event_loop_lag_seconds` replaces them.
 */
function createRuntimeRegistry(): Registry {
  const register = new Registry();
  collectDefaultMetrics({ register, eventLoopMonitoringPrecision: hourMs });
  for (const { name } of register.getMetricsAsArray())
    if (name.startsWith('nodejs_eventloop_lag_') && name !== 'nodejs_eventloop_lag_seconds')
      register.removeSingleMetric(name);
  return register;
}

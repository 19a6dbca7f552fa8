/** Metric definitions as values, declared once for the process, the documentation and the dashboards. */

/** Kinds of names that the contracts declare: operation ids, problem codes, event types, service names. */
export type NameKind = 'operation' | 'problem' | 'event' | 'service';

/** The values of a label: a list, or all names of a kind. Never an id or a value that a caller chooses. */
export type LabelValues = readonly string[] | NameKind;

/** The labels of a metric with their values. */
export type Labels = Readonly<Record<string, LabelValues>>;

interface MetricDef<L extends Labels> {
  readonly name: string;
  /** One sentence without a full stop. */
  readonly help: string;
  /** Unit of the value. The default is a count. */
  readonly unit?: 'seconds' | 'bytes';
  readonly labels: L;
}

/** A value that only increases. */
export interface CounterDef<L extends Labels = Labels> extends MetricDef<L> {
  readonly type: 'counter';
}

/** A distribution of values over buckets. */
export interface HistogramDef<L extends Labels = Labels> extends MetricDef<L> {
  readonly type: 'histogram';
  /** Upper bounds of the buckets. */
  readonly buckets: readonly number[];
}

/** A value that is read at each scrape. */
export interface GaugeDef<L extends Labels = Labels> extends MetricDef<L> {
  readonly type: 'gauge';
}

/** Any metric. */
export type Metric = CounterDef | HistogramDef | GaugeDef;

/** The labels of one time series. The names of a kind are typed as any string. */
export type LabelsFor<L extends Labels> = {
  readonly [Label in keyof L]: L[Label] extends readonly (infer Word extends string)[] ? Word : string;
};

/** Declares a counter. */
export function counter<const L extends Labels>(counterDef: Omit<CounterDef<L>, 'type'>): CounterDef<L> {
  return { type: 'counter', ...counterDef };
}

/** Declares a histogram. */
export function histogram<const L extends Labels>(
  histogramDef: Omit<HistogramDef<L>, 'type'>,
): HistogramDef<L> {
  return { type: 'histogram', ...histogramDef };
}

/** Declares a gauge. */
export function gauge<const L extends Labels>(gaugeDef: Omit<GaugeDef<L>, 'type'>): GaugeDef<L> {
  return { type: 'gauge', ...gaugeDef };
}

/** Classes of HTTP statuses. */
export const statusClasses = ['1xx', '2xx', '3xx', '4xx', '5xx'] as const;

/** Returns the class of an HTTP status, e.g. `2xx`. */
export function toStatusClass(status: number): (typeof statusClasses)[number] {
  return statusClasses[Math.floor(status / 100) - 1] ?? '5xx';
}

/** Default buckets of durations from 2 milliseconds to 10 seconds. */
export const defaultBuckets = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10] as const;

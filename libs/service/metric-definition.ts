/**
 * Metrics as values: what is told of the running system, declared once for the process, the documentation and
 * whoever draws it.
 */

/**
 * Kinds of names that the contracts declare: ids of operations, codes of problems, types of events, names of
 * services.
 */
export type NameKind = 'operation' | 'problem' | 'event' | 'service';

/**
 * The values that a label may have: some words, or all names of a kind. Never an id, and nothing that a
 * caller chooses.
 */
export type LabelValues = readonly string[] | NameKind;

/** The labels of a metric with their values. */
export type Labels = Readonly<Record<string, LabelValues>>;

interface MetricDef<L extends Labels> {
  readonly name: string;
  /** One sentence without its full stop. */
  readonly help: string;
  /** Of the number; a plain count unless said. */
  readonly unit?: 'seconds' | 'bytes';
  readonly labels: L;
}

/** Something that only grows. */
export interface CounterDef<L extends Labels = Labels> extends MetricDef<L> {
  readonly type: 'counter';
}

/** Values spread over buckets. */
export interface HistogramDef<L extends Labels = Labels> extends MetricDef<L> {
  readonly type: 'histogram';
  /** Upper bounds. */
  readonly buckets: readonly number[];
}

/** A number that is read whenever the metrics are. */
export interface GaugeDef<L extends Labels = Labels> extends MetricDef<L> {
  readonly type: 'gauge';
}

/** Any metric. */
export type Metric = CounterDef | HistogramDef | GaugeDef;

/**
 * The labels of one series; what a kind names is any text for the compiler, and one of the declared names all
 * the same.
 */
export type LabelsFor<L extends Labels> = {
  readonly [Label in keyof L]: L[Label] extends readonly (infer Word extends string)[] ? Word : string;
};

/** Declares something that only grows. */
export function counter<const L extends Labels>(counterDef: Omit<CounterDef<L>, 'type'>): CounterDef<L> {
  return { type: 'counter', ...counterDef };
}

/** Declares values that are spread over buckets. */
export function histogram<const L extends Labels>(
  histogramDef: Omit<HistogramDef<L>, 'type'>,
): HistogramDef<L> {
  return { type: 'histogram', ...histogramDef };
}

/** Declares a number that is read. */
export function gauge<const L extends Labels>(gaugeDef: Omit<GaugeDef<L>, 'type'>): GaugeDef<L> {
  return { type: 'gauge', ...gaugeDef };
}

/** The first digit of statuses. */
export const statusClasses = ['1xx', '2xx', '3xx', '4xx', '5xx'] as const;

/** The class of a status, e.g. `2xx`. */
export function toStatusClass(status: number): (typeof statusClasses)[number] {
  return statusClasses[Math.floor(status / 100) - 1] ?? '5xx';
}

/** Buckets for what takes from a millisecond to ten seconds. */
export const defaultBuckets = [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10] as const;

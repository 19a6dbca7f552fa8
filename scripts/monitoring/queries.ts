/** Builds PromQL from the declarations of the metrics. Undeclared metrics, labels and values throw. */
import type { Metric } from '#libs/service';
import { getLabelValues, getMetrics } from '../../services/metrics.ts';

const { ofProcess, ofEachService, own } = getMetrics();
const declared = [...ofProcess, ...ofEachService, ...own.flatMap(({ metrics }) => metrics)];

/** One value of a label, several values, or all values except some. */
type LabelMatch = string | readonly string[] | { readonly not: readonly string[] };

/** Required values by label. */
export type LabelMatchers = Readonly<Record<string, LabelMatch>>;

/** The suffix of a series of a histogram; empty for other metrics. */
type SeriesSuffix = '' | '_bucket' | '_count' | '_sum';

/**
 * Builds a selector of a declared metric. Throws if the name, a label, a value or a bucket is not declared.
 */
export function series(name: string, labels: LabelMatchers = {}, suffix: SeriesSuffix = ''): string {
  const metric = getMetric(name);
  if ((metric.type === 'histogram') !== (suffix !== ''))
    throw new Error(`${name}${suffix} is not a series of ${name}`);
  const matchers = Object.entries(labels).map(([label, matched]) => {
    const isNot = typeof matched === 'object' && 'not' in matched;
    const wanted = isNot ? matched.not : [matched].flat();
    const possible = allowedValues(metric, label, suffix);
    const wrong = wanted.filter((value) => !possible.includes(value));
    if (wrong.length > 0) throw new Error(`${name} has no ${label}=${wrong.join()}`);
    if (label === 'le') return leMatcher(wanted.join());
    if (isNot) return `${label}!~"${wanted.join('|')}"`;
    return wanted.length === 1 ? `${label}="${wanted[0]}"` : `${label}=~"${wanted.join('|')}"`;
  });
  return matchers.length === 0 ? name + suffix : `${name}${suffix}{${matchers.join(', ')}}`;
}

/** Returns the declaration of a metric. Throws if it is not declared. */
export function getMetric(name: string): Metric {
  const metric = declared.find((metric) => metric.name === name);
  if (!metric) throw new Error(`${name} is not a declared metric`);
  return metric;
}

/** Builds the rate per second, summed by these labels. */
export function sumRate(selector: string, window: string, by: readonly string[] = []): string {
  return `sum${byClause(by)}(rate(${selector}[${window}]))`;
}

/** Builds a quantile of a histogram, by these labels. */
export function quantile(
  q: number,
  name: string,
  window: string,
  { by = [], labels = {} }: { by?: readonly string[]; labels?: LabelMatchers } = {},
): string {
  return `histogram_quantile(${q}, ${sumRate(series(name, labels, '_bucket'), window, ['le', ...by])})`;
}

/** Builds the maximum by these labels. Use it for gauges that all replicas read from the same source. */
export function maxBy(selector: string, by: readonly string[] = []): string {
  return `max${byClause(by)}(${selector})`;
}

function byClause(by: readonly string[]): string {
  return by.length === 0 ? '' : ` by (${by.join(', ')}) `;
}

function allowedValues(metric: Metric, label: string, suffix: SeriesSuffix): readonly string[] {
  if (label === 'le' && metric.type === 'histogram' && suffix === '_bucket')
    return metric.buckets.map(String);
  if (label === 'service' && !ofProcess.includes(metric)) return getLabelValues('service');
  const values = metric.labels[label];
  if (values === undefined) throw new Error(`${metric.name} has no label ${label}`);
  return getLabelValues(values);
}

/** Matches a bucket's upper bound. Prometheus 3 writes `1` as `1.0`, so whole numbers match both. */
function leMatcher(bound: string): string {
  return bound.includes('.') ? `le="${bound}"` : `le=~"${bound}|${bound}[.]0"`;
}

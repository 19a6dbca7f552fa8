/** Queries over the metrics as they are declared: what is not declared cannot be asked for. */
import type { Metric } from '#libs/service';
import { getLabelValues, getMetrics } from '../../services/metrics.ts';

const { ofProcess, ofEachService, own } = getMetrics();
const declared = [...ofProcess, ...ofEachService, ...own.flatMap(({ metrics }) => metrics)];

/** A label's value, several of them, or all but some. */
type Matched = string | readonly string[] | { readonly not: readonly string[] };

/** What the labels must be. */
export type Matching = Readonly<Record<string, Matched>>;

/** A metric that has no end, or a part of a histogram. */
type End = '' | '_bucket' | '_count' | '_sum';

/** The series of a declared metric; throws for a name, a label, a value or a bucket that is not declared. */
export function series(name: string, labels: Matching = {}, end: End = ''): string {
  const metric = metricOf(name);
  if ((metric.type === 'histogram') !== (end !== '')) throw new Error(`${name}${end} is no series`);
  const matchers = Object.entries(labels).map(([label, matched]) => {
    const isNot = typeof matched === 'object' && 'not' in matched;
    const wanted = isNot ? matched.not : [matched].flat();
    const possible = valuesAt(metric, label, end);
    const wrong = wanted.filter((one) => !possible.includes(one));
    if (wrong.length > 0) throw new Error(`${name} has no ${label}=${wrong.join()}`);
    if (label === 'le') return leMatcher(wanted.join());
    if (isNot) return `${label}!~"${wanted.join('|')}"`;
    return wanted.length === 1 ? `${label}="${wanted[0]}"` : `${label}=~"${wanted.join('|')}"`;
  });
  return matchers.length === 0 ? name + end : `${name}${end}{${matchers.join(', ')}}`;
}

/** What a metric tells, as its declaration says. */
export function metricOf(name: string): Metric {
  const metric = declared.find((one) => one.name === name);
  if (!metric) throw new Error(`${name} is no declared metric`);
  return metric;
}

/** So much of it in a second, by these labels. */
export function rateOf(options: string, window: string, by: readonly string[] = []): string {
  return `sum${grouped(by)}(rate(${options}[${window}]))`;
}

/** A quantile of a histogram, by these labels. */
export function quantile(
  q: number,
  name: string,
  window: string,
  { by = [], labels = {} }: { by?: readonly string[]; labels?: Matching } = {},
): string {
  return `histogram_quantile(${q}, ${rateOf(series(name, labels, '_bucket'), window, ['le', ...by])})`;
}

/** The largest, by these labels: what all replicas read from the same place is not added up. */
export function largest(options: string, by: readonly string[] = []): string {
  return `max${grouped(by)}(${options})`;
}

function grouped(by: readonly string[]): string {
  return by.length === 0 ? '' : ` by (${by.join(', ')}) `;
}

function valuesAt(metric: Metric, label: string, end: End): readonly string[] {
  if (label === 'le' && metric.type === 'histogram' && end === '_bucket') return metric.buckets.map(String);
  if (label === 'service' && !ofProcess.includes(metric)) return getLabelValues('service');
  const values = metric.labels[label];
  if (values === undefined) throw new Error(`${metric.name} has no label ${label}`);
  return getLabelValues(values);
}

/** Prometheus 3 writes `1` as `1.0`. */
function leMatcher(bound: string): string {
  return bound.includes('.') ? `le="${bound}"` : `le=~"${bound}|${bound}[.]0"`;
}

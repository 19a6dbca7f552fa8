/** Creates panels that take their description and unit from the declaration of a metric. */
import type { Line, Panel } from './grafana.ts';
import { getMetric, type LabelMatchers, maxBy, quantile, series, sumRate } from './queries.ts';

/** Grafana variable: a window that fits the graph's resolution and the scrape interval. */
export const rateInterval = '$__rate_interval';

const units = { seconds: 's', bytes: 'bytes' } as const;

/** Creates a panel with these queries. Throws if the metric `name` is not declared. */
export function metricPanel(
  title: string,
  name: string,
  lines: readonly Line[],
  panel: Partial<Panel> = {},
): Panel {
  const { help, unit } = getMetric(name);
  return { title, description: `${help}.`, unit: unit ? units[unit] : 'short', lines, ...panel };
}

/**
 * Creates a panel of the rate per second of a counter or a histogram's count, with a line per value of the
 * labels.
 */
export function ratePanel(
  title: string,
  name: string,
  by: readonly string[],
  {
    labels = {},
    unit = 'ops',
    orZero = false,
  }: PanelOptions & { unit?: 'ops' | 'reqps'; orZero?: boolean } = {},
): Panel {
  const suffix = getMetric(name).type === 'histogram' ? '_count' : '';
  const rate = sumRate(series(name, labels, suffix), rateInterval, by);
  // a counter that has never been incremented is drawn as 0, not as a gap
  return metricPanel(title, name, [{ expr: orZero ? `${rate} or vector(0)` : rate, legend: toLegend(by) }], {
    unit,
  });
}

/** Creates a panel with p50, p95 and p99 of a histogram. */
export function quantilesPanel(
  title: string,
  name: string,
  { labels = {}, redFrom }: PanelOptions = {},
): Panel {
  const lines = [0.5, 0.95, 0.99].map((q) => ({
    expr: quantile(q, name, rateInterval, { labels }),
    legend: `p${q * 100}`,
  }));
  return metricPanel(title, name, lines, toThreshold(redFrom));
}

/** Creates a panel with one quantile of a histogram, with a line per value of the labels. */
export function quantilePanel(
  title: string,
  [q, name]: readonly [number, string],
  by: readonly string[],
  { labels = {}, redFrom }: PanelOptions = {},
): Panel {
  return metricPanel(
    title,
    name,
    [{ expr: quantile(q, name, rateInterval, { by, labels }), legend: toLegend(by) }],
    toThreshold(redFrom),
  );
}

/** Creates a panel of a gauge that all replicas read from the same source: the maximum over the replicas. */
export function maxPanel(
  title: string,
  name: string,
  by: readonly string[] = [],
  { labels = {}, redFrom }: PanelOptions = {},
): Panel {
  const expr = maxBy(series(name, labels), by);
  return metricPanel(
    title,
    name,
    [{ expr, legend: by.length > 0 ? toLegend(by) : 'largest' }],
    toThreshold(redFrom),
  );
}

/** Creates a panel of a gauge with a line per process. */
export function perInstancePanel(title: string, name: string, { redFrom }: PanelOptions = {}): Panel {
  return metricPanel(title, name, [{ expr: series(name), legend: '{{instance}}' }], toThreshold(redFrom));
}

interface PanelOptions {
  labels?: LabelMatchers;
  redFrom?: number;
}

function toThreshold(from: number | undefined): Partial<Panel> {
  return from === undefined ? {} : { redFrom: from };
}

function toLegend(by: readonly string[]): string {
  return by.map((label) => `{{${label}}}`).join(' ');
}

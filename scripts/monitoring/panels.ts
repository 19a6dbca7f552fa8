/** Panels that are told in the words and the unit of a metric's own declaration. */
import type { Line, Panel } from './grafana.ts';
import { largest, type Matching, metricOf, quantile, rateOf, series } from './queries.ts';

/** Grafana replaces it by what fits the resolution and the scrapes. */
export const now = '$__rate_interval';

const units = { seconds: 's', bytes: 'bytes' } as const;

/** A panel of these lines. */
export function graph(
  title: string,
  name: string,
  lines: readonly Line[],
  panel: Partial<Panel> = {},
): Panel {
  const { help, unit } = metricOf(name);
  return { title, tells: `${help}.`, unit: unit ? units[unit] : 'short', lines, ...panel };
}

/** How often it happens, a line for each value of the labels; of a histogram, what it counts. */
export function often(
  title: string,
  name: string,
  by: readonly string[],
  { labels = {}, unit = 'ops', orNone = false }: Choice & { unit?: 'ops' | 'reqps'; orNone?: boolean } = {},
): Panel {
  const end = metricOf(name).type === 'histogram' ? '_count' : '';
  const ask = rateOf(series(name, labels, end), now, by);
  // what may never have happened is drawn as nothing, not as a hole
  return graph(title, name, [{ ask: orNone ? `${ask} or vector(0)` : ask, name: legend(by) }], { unit });
}

/** Three quantiles of a histogram. */
export function spread(title: string, name: string, { labels = {}, redFrom }: Choice = {}): Panel {
  const lines = [0.5, 0.95, 0.99].map((q) => ({
    ask: quantile(q, name, now, { labels }),
    name: `p${q * 100}`,
  }));
  return graph(title, name, lines, red(redFrom));
}

/** One quantile of a histogram, a line for each value of the labels. */
export function quantileBy(
  title: string,
  [q, name]: readonly [number, string],
  by: readonly string[],
  { labels = {}, redFrom }: Choice = {},
): Panel {
  return graph(
    title,
    name,
    [{ ask: quantile(q, name, now, { by, labels }), name: legend(by) }],
    red(redFrom),
  );
}

/** What all replicas read from the same place. */
export function most(
  title: string,
  name: string,
  by: readonly string[] = [],
  { labels = {}, redFrom }: Choice = {},
): Panel {
  const ask = largest(series(name, labels), by);
  return graph(title, name, [{ ask, name: by.length > 0 ? legend(by) : 'largest' }], red(redFrom));
}

/** What each process tells of itself. */
export function each(title: string, name: string, { redFrom }: Choice = {}): Panel {
  return graph(title, name, [{ ask: series(name), name: '{{instance}}' }], red(redFrom));
}

interface Choice {
  labels?: Matching;
  redFrom?: number;
}

function red(from: number | undefined): Partial<Panel> {
  return from === undefined ? {} : { redFrom: from };
}

function legend(by: readonly string[]): string {
  return by.map((label) => `{{${label}}}`).join(' ');
}

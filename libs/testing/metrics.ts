/** Reads metrics from the management port of a service. */
import { httpClient } from './http-client.ts';

/** One line of the metrics page. */
export interface Series {
  name: string;
  labels: Record<string, string>;
  value: number;
}

/** Reads all series of a management port, for example `http://127.0.0.1:9464`. */
export async function readSeries(management: string): Promise<Series[]> {
  return parseSeries(await readPage(management));
}

/**
 * Reads the value of a metric, summed over the series with these labels; 0 if it has none. Rejects if the metric does
 * not exist.
 */
export async function readMetric(
  management: string,
  name: string,
  labels: Record<string, string> = {},
): Promise<number> {
  const page = await readPage(management);
  const exists = new RegExp(`^# TYPE ${name.replace(/_(bucket|sum|count)$/, '')} `, 'm').test(page);
  if (!exists) throw new Error(`There is no metric ${name}`);
  return sumSeries(parseSeries(page), name, labels);
}

/** Adds up the series with a name and these labels. */
export function sumSeries(
  series: readonly Series[],
  name: string,
  labels: Record<string, string> = {},
): number {
  return series
    .filter(
      (one) => one.name === name && Object.entries(labels).every(([key, value]) => one.labels[key] === value),
    )
    .reduce((sum, { value }) => sum + value, 0);
}

async function readPage(management: string): Promise<string> {
  const { bytes } = await httpClient(management).request('GET', '/metrics');
  return new TextDecoder().decode(bytes);
}

function parseSeries(page: string): Series[] {
  return [...page.matchAll(/^(\w+)(?:\{(.*)\})? (\S+)$/gm)].map(([, name = '', labels = '', value]) => ({
    name,
    labels: Object.fromEntries([...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, key, one]) => [key, one])),
    value: Number(value),
  }));
}

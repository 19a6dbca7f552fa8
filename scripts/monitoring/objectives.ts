/** Service level objectives: what is promised, how it is counted, and how fast its budget burns. */

import { series } from './queries.ts';
import type { TimeScale } from './time-scale.ts';

/** An objective. */
export interface Objective {
  /** The value of the label `slo`. */
  readonly slo: 'availability' | 'latency' | 'delivery_success' | 'delivery_age';
  /** The share of good ones, e.g. 0.999. */
  readonly promised: number;
  /** As a title, and as a sentence without its full stop. */
  readonly title: string;
  readonly means: string;
  /** Ends the sentence "This burns the budget: …". */
  readonly bad: string;
  /** Whether it wakes somebody. */
  readonly wakes: boolean;
  /** Bad ones and all of them: sums over a window of what grows, by `rate` or `increase`. */
  readonly counted: (
    how: 'rate' | 'increase',
    window: string,
    pace: TimeScale,
  ) => { bad: string; all: string };
}

/** What waits for others by its nature: a renderer's turn, or a receiver of webhooks. */
const slowByNature = ['exportWord', 'exportMarkdown', 'createTemplate', 'testWebhook'];

const requests = 'http_request_duration_seconds';
const latency = 'webhook_delivery_latency_seconds';

/** All that is promised. */
export const objectives: readonly Objective[] = [
  {
    slo: 'availability',
    promised: 0.999,
    title: 'Availability',
    means: '99.9 % of requests are not answered with a 5xx',
    bad: 'requests end with a 5xx',
    wakes: true,
    counted: grown(series(requests, { status_class: '5xx' }, '_count'), series(requests, {}, '_count')),
  },
  {
    slo: 'latency',
    promised: 0.99,
    title: 'Latency',
    means: `99 % of requests are answered within half a second, but for ${slowByNature.join(', ')}`,
    bad: 'requests take longer than half a second',
    wakes: true,
    counted: left(
      series(requests, { operation: { not: slowByNature }, le: '0.5' }, '_bucket'),
      series(requests, { operation: { not: slowByNature } }, '_count'),
    ),
  },
  {
    slo: 'delivery_success',
    promised: 0.99,
    title: 'Deliveries arrive',
    means: '99 % of webhook deliveries end as delivered',
    bad: 'deliveries end as failed',
    // a customer's receiver that is switched off is no reason to get up
    wakes: false,
    counted: grown(
      series('webhook_deliveries_total', { status: 'failed' }),
      series('webhook_deliveries_total'),
    ),
  },
  {
    slo: 'delivery_age',
    promised: 0.99,
    title: 'Deliveries are fresh',
    means: '99 % of deliveries that the first attempt brings arrive within a minute of the change',
    bad: 'deliveries arrive more than a minute after their change',
    wakes: true,
    counted: (how, window, pace) =>
      left(
        series(latency, { attempt: '1', le: `${pace.seconds(60)}` }, '_bucket'),
        series(latency, { attempt: '1' }, '_count'),
      )(how, window, pace),
  },
];

/** The windows that are recorded. */
export const windows = ['5m', '30m', '1h', '2h', '6h', '1d', '3d'] as const;
export type Window = (typeof windows)[number];

/** The recorded share of bad ones in a window. */
export function recorded(slo: Objective['slo'], window: Window): string {
  return `slo:bad:ratio_rate${window}{slo="${slo}"}`;
}

/** The recorded number of bad ones in the last hour. */
export function recordedCount(slo: Objective['slo']): string {
  return `slo:bad:increase1h{slo="${slo}"}`;
}

/** The recording rules. */
export function recordings(pace: TimeScale): { record: string; expr: string; labels: { slo: string } }[] {
  return objectives.flatMap(({ slo, counted }) => {
    const labels = { slo };
    const shares = windows.map((window) => {
      const { bad, all } = counted('rate', pace.lasting(window), pace);
      return { record: `slo:bad:ratio_rate${window}`, expr: `${bad}\n/ ${all}`, labels };
    });
    return [
      ...shares,
      { record: 'slo:bad:increase1h', expr: counted('increase', pace.lasting('1h'), pace).bad, labels },
    ];
  });
}

/** Bad ones that are counted by themselves; where there has never been one, there is none. */
function grown(bad: string, all: string): Objective['counted'] {
  return (how, window) => ({
    bad: `(sum(${how}(${bad}[${window}])) or vector(0))`,
    all: `sum(${how}(${all}[${window}]))`,
  });
}

/** Bad ones that are what is left of all without the good ones. */
function left(good: string, all: string): Objective['counted'] {
  return (how, window) => {
    const sum = (options: string) => `sum(${how}(${options}[${window}]))`;
    return { bad: `(${sum(all)} - ${sum(good)})`, all: sum(all) };
  };
}

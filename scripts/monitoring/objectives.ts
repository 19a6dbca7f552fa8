/** Declares the service level objectives and their recording rules. */

import { series } from './queries.ts';
import type { TimeScale } from './time-scale.ts';

/** A service level objective. */
export interface Objective {
  /** The value of the label `slo`. */
  readonly slo: 'availability' | 'latency' | 'delivery_success' | 'delivery_age';
  /** Target share of good events, e.g. 0.999. */
  readonly target: number;
  readonly title: string;
  /** A sentence without its full stop. */
  readonly description: string;
  /** Completes the sentence "Too many …". */
  readonly badEvents: string;
  /** Whether a fast burn is a page; otherwise it is a ticket. */
  readonly isPaging: boolean;
  /** Creates PromQL for the bad events and all events in a window, by `rate` or `increase`. */
  readonly createQueries: (
    how: 'rate' | 'increase',
    window: string,
    timeScale: TimeScale,
  ) => { bad: string; all: string };
}

/**
 * Operations that wait for a worker process, a webhook endpoint or an event. The latency objective excludes them.
 */
const slowOperations = [
  ...['exportWord', 'exportMarkdown', 'exportHtml', 'exportLibrary', 'createTemplate'],
  ...['previewImport', 'createImport'],
  ...['testWebhook', 'receiveWebhookEvents'],
];

const requests = 'http_request_duration_seconds';
const latency = 'webhook_delivery_latency_seconds';

/** All objectives. */
export const objectives: readonly Objective[] = [
  {
    slo: 'availability',
    target: 0.999,
    title: 'Availability',
    description: '99.9 % of requests get a response other than 5xx',
    badEvents: 'requests get a 5xx response',
    isPaging: true,
    createQueries: badCounter(
      series(requests, { status_class: '5xx' }, '_count'),
      series(requests, {}, '_count'),
    ),
  },
  {
    slo: 'latency',
    target: 0.99,
    title: 'Latency',
    description: `99 % of requests get a response within 0.5 s, except ${slowOperations.join(', ')}`,
    badEvents: 'requests take longer than 0.5 s',
    isPaging: true,
    createQueries: allMinusGood(
      series(requests, { operation: { not: slowOperations }, le: '0.5' }, '_bucket'),
      series(requests, { operation: { not: slowOperations } }, '_count'),
    ),
  },
  {
    slo: 'delivery_success',
    target: 0.99,
    title: 'Delivery success',
    description: '99 % of webhook deliveries succeed',
    badEvents: 'webhook deliveries fail',
    // the cause is usually an endpoint that its customer has switched off
    isPaging: false,
    createQueries: badCounter(
      series('webhook_deliveries_total', { status: 'failed' }),
      series('webhook_deliveries_total'),
    ),
  },
  {
    slo: 'delivery_age',
    target: 0.99,
    title: 'Delivery age',
    description:
      '99 % of webhook deliveries that succeed at the first attempt arrive within 1 minute of the change',
    badEvents: 'webhook deliveries arrive more than 1 minute after the change',
    isPaging: true,
    createQueries: (how, window, timeScale) =>
      allMinusGood(
        series(latency, { attempt: '1', le: `${timeScale.seconds(60)}` }, '_bucket'),
        series(latency, { attempt: '1' }, '_count'),
      )(how, window, timeScale),
  },
];

/** Windows of the recording rules. */
export const windows = ['5m', '30m', '1h', '2h', '6h', '1d', '3d'] as const;
export type Window = (typeof windows)[number];

/** Returns the recorded series with the share of bad events in a window. */
export function recordedRatio(slo: Objective['slo'], window: Window): string {
  return `slo:bad:ratio_rate${window}{slo="${slo}"}`;
}

/** Returns the recorded series with the number of bad events in the last hour. */
export function recordedCount(slo: Objective['slo']): string {
  return `slo:bad:increase1h{slo="${slo}"}`;
}

/** Creates the recording rules of all objectives. */
export function recordingRules(
  timeScale: TimeScale,
): { record: string; expr: string; labels: { slo: string } }[] {
  return objectives.flatMap(({ slo, createQueries }) => {
    const labels = { slo };
    const shares = windows.map((window) => {
      const { bad, all } = createQueries('rate', timeScale.duration(window), timeScale);
      return { record: `slo:bad:ratio_rate${window}`, expr: `${bad}\n/ ${all}`, labels };
    });
    return [
      ...shares,
      {
        record: 'slo:bad:increase1h',
        expr: createQueries('increase', timeScale.duration('1h'), timeScale).bad,
        labels,
      },
    ];
  });
}

/** Queries for bad events that have their own counter. A counter that does not exist yet counts as 0. */
function badCounter(bad: string, all: string): Objective['createQueries'] {
  return (how, window) => ({
    bad: `(sum(${how}(${bad}[${window}])) or vector(0))`,
    all: `sum(${how}(${all}[${window}]))`,
  });
}

/** Queries for bad events as the difference between all events and good events. */
function allMinusGood(good: string, all: string): Objective['createQueries'] {
  return (how, window) => {
    const sum = (selector: string) => `sum(${how}(${selector}[${window}]))`;
    return { bad: `(${sum(all)} - ${sum(good)})`, all: sum(all) };
  };
}

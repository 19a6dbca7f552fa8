/** The numbers of a process: requests, events, MongoDB, and the process itself. */

import type { RequestOutcome } from '#libs/http';
import packed from '../../package.json' with { type: 'json' };
import { type Meter, type Meters, newMeter, noMeter } from './meters.ts';
import { type Metric, toStatusClass } from './metric.ts';
import { processMetrics, serviceMetrics } from './process-metrics.ts';

/** What is kept of a process. */
export interface Metrics extends Pick<Meter, 'page'> {
  /** Counts a finished request. */
  request(done: Pick<RequestOutcome, 'operation' | 'status' | 'durationMs' | 'problem'>): void;
  /** Counts a request that reached no operation. */
  unmatched(status: number): void;
  /** Looks at the bus whenever the metrics are read. */
  bus(bus: { readonly up: boolean }): void;
  /** Meters of what every process tells of a service. */
  of(service: string): Meters;
  /** Meters of a service's own metrics. */
  own(service: string, declared: readonly Metric[]): Meters;
  stop(): void;
}

/** Keeps the numbers of this process, or none when they are switched off. */
export function newMetrics({ on }: { on: boolean }): Metrics {
  const meter = on ? newMeter() : noMeter;
  const common = Object.values(serviceMetrics);
  const meters = meter.meters(Object.values(processMetrics));
  const requests = meters.histogram(processMetrics.requests);
  const problems = meters.counter(processMetrics.problems);
  const unmatched = meters.counter(processMetrics.unmatched);
  meters.gauge(processMetrics.rss, () => process.memoryUsage().rss);
  meters.gauge(processMetrics.build, () => [[{ version: packed.version, runtime: runtime() }, 1]]);
  const looking = on ? watchedLoop(meters.histogram(processMetrics.loopLag)) : undefined;
  return {
    page: meter.page,
    request({ operation, status, durationMs, problem }) {
      requests({ operation, status_class: toStatusClass(status) }, durationMs / 1000);
      if (problem !== undefined) problems({ operation, code: problem });
    },
    unmatched: (status) => unmatched({ status_class: toStatusClass(status) }),
    bus: (bus) => meters.gauge(processMetrics.busUp, () => Number(bus.up)),
    of: (service) => meter.meters(common, service),
    own: (service, declared) => meter.meters(declared, service),
    stop: () => clearInterval(looking),
  };
}

const loopEveryMs = 250;

/** A timer of our own: what the runtime measures is always 0 under Deno. */
function watchedLoop(late: (labels: object, seconds: number) => void): NodeJS.Timeout {
  let due = performance.now() + loopEveryMs;
  const timer = setInterval(() => {
    const at = performance.now();
    late({}, Math.max(0, at - due) / 1000);
    due = at + loopEveryMs;
  }, loopEveryMs);
  return timer.unref();
}

/** E.g. `node 24.21.0`. */
function runtime(): string {
  const { deno, node } = process.versions as Record<string, string | undefined>;
  return deno === undefined ? `node ${node}` : `deno ${deno}`;
}

/** The metrics of a process: requests, events, MongoDB and the process itself. */

import type { RequestOutcome } from '#libs/http';
import packed from '../../package.json' with { type: 'json' };
import { type Metric, toStatusClass } from './metric-definition.ts';
import { createMetricRegistry, type Meters, type MetricRegistry, noopRegistry } from './metric-registry.ts';
import { processMetrics, serviceMetrics } from './process-metrics.ts';

/** Records the metrics of a process. */
export interface Metrics extends Pick<MetricRegistry, 'render'> {
  /** Records a finished request. */
  request(done: Pick<RequestOutcome, 'operation' | 'status' | 'durationMs' | 'problem'>): void;
  /** Counts a request that matched no operation. */
  unmatched(status: number): void;
  /** Registers the gauge that reads whether the bus is up. */
  bus(bus: { readonly up: boolean }): void;
  /** Returns the meters of the metrics that every service has. */
  forService(service: string): Meters;
  /** Returns the meters of a service's own metrics. */
  forServiceMetrics(service: string, declared: readonly Metric[]): Meters;
  stop(): void;
}

/** Creates the metrics of this process. If disabled, nothing is recorded. */
export function createMetrics({ isEnabled }: { isEnabled: boolean }): Metrics {
  const registry = isEnabled ? createMetricRegistry() : noopRegistry;
  const common = Object.values(serviceMetrics);
  const meters = registry.meters(Object.values(processMetrics));
  const requests = meters.histogram(processMetrics.requests);
  const problems = meters.counter(processMetrics.problems);
  const unmatched = meters.counter(processMetrics.unmatched);
  meters.gauge(processMetrics.rss, () => process.memoryUsage().rss);
  meters.gauge(processMetrics.build, () => [[{ version: packed.version, runtime: getRuntime() }, 1]]);
  const loopTimer = isEnabled ? startLoopLagTimer(meters.histogram(processMetrics.loopLag)) : undefined;
  return {
    render: registry.render,
    request({ operation, status, durationMs, problem }) {
      requests({ operation, status_class: toStatusClass(status) }, durationMs / 1000);
      if (problem !== undefined) problems({ operation, code: problem });
    },
    unmatched: (status) => unmatched({ status_class: toStatusClass(status) }),
    bus: (bus) => meters.gauge(processMetrics.busUp, () => Number(bus.up)),
    forService: (service) => registry.meters(common, service),
    forServiceMetrics: (service, declared) => registry.meters(declared, service),
    stop: () => clearInterval(loopTimer),
  };
}

const loopIntervalMs = 250;

/** Measures the event loop lag with a timer, because the value of the runtime is always 0 under Deno. */
function startLoopLagTimer(observe: (labels: object, seconds: number) => void): NodeJS.Timeout {
  let due = performance.now() + loopIntervalMs;
  const timer = setInterval(() => {
    const at = performance.now();
    observe({}, Math.max(0, at - due) / 1000);
    due = at + loopIntervalMs;
  }, loopIntervalMs);
  return timer.unref();
}

/** Returns the runtime and its version, e.g. `node 24.21.0`. */
function getRuntime(): string {
  const { deno, node } = process.versions as Record<string, string | undefined>;
  return deno === undefined ? `node ${node}` : `deno ${deno}`;
}

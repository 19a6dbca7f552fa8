/** Metrics in Prometheus' words: requests by operation and status class, and the process itself. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Done } from '#libs/http';

export interface Metrics {
  readonly register: Registry;
  /** Counts a finished request. */
  request(done: Done): void;
  /** Counts an event that a service handled, or failed to handle. */
  event(service: string, type: string, outcome: 'handled' | 'failed'): void;
}

/** The metrics of this process. */
export function newMetrics(): Metrics {
  const register = new Registry();
  collectDefaultMetrics({ register });
  new Gauge({
    name: 'process_memory_rss_bytes',
    help: 'Resident memory of the process (also where the runtime has no /proc of its own)',
    registers: [register],
    collect() {
      this.set(process.memoryUsage().rss);
    },
  });
  const requests = new Histogram({
    name: 'http_request_duration_seconds',
    help: 'Time from the request to its answer, by operation and class of status',
    labelNames: ['operation', 'status_class'],
    buckets: [0.002, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10],
    registers: [register],
  });
  const events = new Counter({
    name: 'events_handled_total',
    help: 'Tries to handle an event, by service, type and outcome',
    labelNames: ['service', 'type', 'outcome'],
    registers: [register],
  });
  return {
    register,
    request: ({ operation, status, durationMs }) =>
      requests.observe({ operation, status_class: `${Math.floor(status / 100)}xx` }, durationMs / 1000),
    event: (service, type, outcome) => events.inc({ service, type, outcome }),
  };
}

/** Metrics in Prometheus' words: requests by operation and status class, and the process itself. */
import { Counter, collectDefaultMetrics, Gauge, Histogram, Registry } from 'prom-client';
import type { Done } from '#libs/http';
import type { Store, Waiting } from '#libs/store';
import { type Meters, metersOf } from './meters.ts';

/** Where events wait. */
type Outbox = Pick<Store, 'waiting'>;

export interface Metrics {
  readonly register: Registry;
  /** Counts a finished request. */
  request(done: Done): void;
  /** Counts an event that a service handled, or failed to handle. */
  event(service: string, type: string, outcome: 'handled' | 'failed'): void;
  /** What a service counts by itself; every metric has the label `service`. */
  meters(service: string): Meters;
  /** Looks into a service's outbox whenever the metrics are read. */
  outbox(service: string, store: Outbox): void;
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
  const outboxes = outboxGauges(register);
  return {
    register,
    request: ({ operation, status, durationMs }) =>
      requests.observe({ operation, status_class: `${Math.floor(status / 100)}xx` }, durationMs / 1000),
    event: (service, type, outcome) => events.inc({ service, type, outcome }),
    meters: (service) => metersOf(register, service),
    outbox: outboxes.watch,
  };
}

/** Gauges of what waits in the outboxes; where MongoDB does not answer there is no number, which is better than the last one. */
function outboxGauges(register: Registry): { watch(service: string, store: Outbox): void } {
  const stores = new Map<string, Outbox>();
  let looking: Promise<[string, Waiting | undefined][]> | undefined;
  // one look for both gauges
  const look = () => {
    const one = async ([service, store]: [string, Outbox]): Promise<[string, Waiting | undefined]> => [
      service,
      await store.waiting().catch(() => undefined),
    ];
    looking ??= Promise.all([...stores].map(one)).finally(() => {
      looking = undefined;
    });
    return looking;
  };
  const gauge = (name: string, help: string, value: (waiting: Waiting) => number) =>
    new Gauge({
      name,
      help,
      labelNames: ['service'],
      registers: [register],
      async collect() {
        const found = await look();
        this.reset();
        for (const [service, waiting] of found) if (waiting) this.set({ service }, value(waiting));
      },
    });
  gauge(
    'outbox_pending_events',
    'Events that the bus has not taken, by service; 10,000 stand for as many or more',
    ({ count }) => count,
  );
  gauge(
    'outbox_oldest_seconds',
    'How long the oldest event that the bus has not taken has been waiting, by service',
    ({ oldestSeconds }) => oldestSeconds,
  );
  return { watch: (service, store) => void stores.set(service, store) };
}

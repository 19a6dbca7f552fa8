/** Metering: what operators are told of deliveries. */
import type { Meters } from '#libs/service';
import type { Breakers } from './rules/breaker.ts';
import type { Queue, Result } from './store/queue.ts';

/** Counts what happens to deliveries. */
export interface Metering {
  /** An attempt that was made. */
  attempted(result: Result): void;
  /** Deliveries that have come to their end. */
  ended(status: 'delivered' | 'failed', count?: number): void;
}

/** Declares the metrics of deliveries. */
export function metering(
  meters: Meters,
  of: { queue: Pick<Queue, 'backlog'>; breakers: Pick<Breakers, 'open'> },
): Metering {
  const attempts = meters.histogram({
    name: 'webhook_attempt_duration_seconds',
    help: 'Time of a request until its answer or its failure, by class of status; none is no answer',
    labels: ['status_class'],
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  });
  const ends = meters.counter({
    name: 'webhook_deliveries_total',
    help: 'Deliveries that have come to their end, by how',
    labels: ['status'],
  });
  meters.gauge({
    name: 'webhook_due_deliveries',
    help: 'Deliveries that are due and in no hands; 10,000 stand for as many or more',
    read: async () => (await of.queue.backlog()).count,
  });
  meters.gauge({
    name: 'webhook_due_oldest_seconds',
    help: 'For how long the oldest of them has been due',
    read: async () => (await of.queue.backlog()).oldestSeconds,
  });
  meters.gauge({
    name: 'webhook_breakers_open',
    help: 'Endpoints that this process leaves alone because they did not answer',
    read: () => of.breakers.open(),
  });
  return {
    attempted({ http_status, duration_ms }) {
      const status_class = http_status === null ? 'none' : `${Math.floor(http_status / 100)}xx`;
      attempts({ status_class }, (duration_ms ?? 0) / 1000);
    },
    ended: (status, count = 1) => ends({ status }, count),
  };
}

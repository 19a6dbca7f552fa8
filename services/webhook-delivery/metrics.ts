/** Metering: what operators are told of deliveries. */
import { counter, gauge, histogram, type Meters, statusClasses, toStatusClass } from '#libs/service';
import type { DeliveryJob } from './attempt.ts';
import { maxAttempts } from './rules/backoff.ts';
import type { CircuitBreakers } from './rules/circuit-breaker.ts';
import type { Sender } from './transport/sender.ts';
import type { Queue, Result } from './store/queue.ts';

const metrics = {
  attempts: histogram({
    name: 'webhook_attempt_duration_seconds',
    help: 'Time of a request until its answer or its failure, by class of status; `none` is no answer',
    unit: 'seconds',
    labels: { status_class: [...statusClasses, 'none'] },
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  }),
  ends: counter({
    name: 'webhook_deliveries_total',
    help: 'Deliveries that have come to their end, by how',
    labels: { status: ['delivered', 'failed'] },
  }),
  latency: histogram({
    name: 'webhook_delivery_latency_seconds',
    help: 'From the change to the answer of a receiver that took it, by the number of the attempt',
    unit: 'seconds',
    labels: { attempt: Array.from({ length: maxAttempts }, (_, at) => `${at + 1}`) },
    buckets: [0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60, 600, 3600, 86_400],
  }),
  inFlight: gauge({
    name: 'webhook_in_flight_requests',
    help: 'Requests to receivers that have not ended',
    labels: {},
  }),
  due: gauge({
    name: 'webhook_due_deliveries',
    help: 'Deliveries that are due and in no hands; 10,000 stand for as many or more',
    labels: {},
  }),
  dueOldest: gauge({
    name: 'webhook_due_oldest_seconds',
    help: 'For how long the oldest of them has been due',
    unit: 'seconds',
    labels: {},
  }),
  breakers: gauge({
    name: 'webhook_circuit_breakers_open',
    help: 'Endpoints that this process leaves alone because they did not answer',
    labels: {},
  }),
};

/** What webhook delivery tells of itself. */
export const webhookMetrics = Object.values(metrics);

/** Counts what happens to deliveries. */
export interface DeliveryMetrics {
  /** An attempt that was made. */
  attempted(result: Result, parcel: Pick<DeliveryJob, 'row' | 'event'>): void;
  /** Deliveries that have come to their end. */
  ended(status: 'delivered' | 'failed', count?: number): void;
}

/** Keeps the metrics of deliveries. */
export function metering(
  meters: Meters,
  {
    sender,
    queue,
    breakers,
    now,
  }: {
    queue: Pick<Queue, 'backlog'>;
    breakers: Pick<CircuitBreakers, 'open'>;
    sender: Pick<Sender, 'inFlight'>;
    now: () => Date;
  },
): DeliveryMetrics {
  const attempts = meters.histogram(metrics.attempts);
  const ends = meters.counter(metrics.ends);
  const latency = meters.histogram(metrics.latency);
  meters.gauge(metrics.inFlight, () => sender.inFlight());
  meters.gauge(metrics.due, async () => (await queue.backlog()).count);
  meters.gauge(metrics.dueOldest, async () => (await queue.backlog()).oldestSeconds);
  meters.gauge(metrics.breakers, () => breakers.open());
  return {
    attempted({ http_status, duration_ms, verdict }, { row, event }) {
      const status_class = http_status === null ? 'none' : toStatusClass(http_status);
      attempts({ status_class }, (duration_ms ?? 0) / 1000);
      // what is sent again by command is as old as it likes
      if (verdict.status !== 'delivered' || !row.is_first || !event.occurred_at) return;
      const ageMs = now().getTime() - event.occurred_at.getTime();
      latency({ attempt: String(row.attempts) }, Math.max(0, ageMs) / 1000);
    },
    ended: (status, count = 1) => ends({ status }, count),
  };
}

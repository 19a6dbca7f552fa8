/** Metrics of webhook deliveries. */
import { counter, gauge, histogram, type Meters, statusClasses, toStatusClass } from '#libs/service';
import type { DeliveryJob } from './dispatch/attempt.ts';
import type { LongPolls } from './listening/long-polls.ts';
import { maxAttempts } from './rules/backoff.ts';
import type { CircuitBreakers } from './rules/circuit-breaker.ts';
import type { AttemptResult, Queue } from './store/queue.ts';
import type { Sender } from './transport/sender.ts';

const metrics = {
  attempts: histogram({
    name: 'webhook_attempt_duration_seconds',
    help: 'Duration of a webhook request until its response or failure, by status class; `none` means no response',
    unit: 'seconds',
    labels: { status_class: [...statusClasses, 'none'] },
    buckets: [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
  }),
  finished: counter({
    name: 'webhook_deliveries_total',
    help: 'Finished deliveries by final status',
    labels: { status: ['delivered', 'failed'] },
  }),
  latency: histogram({
    name: 'webhook_delivery_latency_seconds',
    help: 'Time from the change to the successful response of the receiver, by attempt number',
    unit: 'seconds',
    labels: { attempt: Array.from({ length: maxAttempts }, (_, at) => `${at + 1}`) },
    buckets: [0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 10, 60, 600, 3600, 86_400],
  }),
  inFlight: gauge({
    name: 'webhook_in_flight_requests',
    help: 'Webhook requests in flight',
    labels: {},
  }),
  due: gauge({
    name: 'webhook_due_deliveries',
    help: 'Deliveries that are due and not claimed (capped at 10,000)',
    labels: {},
  }),
  dueOldest: gauge({
    name: 'webhook_due_oldest_seconds',
    help: 'How long the oldest due delivery has been waiting',
    unit: 'seconds',
    labels: {},
  }),
  longPolls: gauge({
    name: 'webhook_listener_requests_waiting',
    help: 'Requests of listeners that wait for an event in this process',
    labels: {},
  }),
  breakers: gauge({
    name: 'webhook_circuit_breakers_open',
    help: 'Endpoints whose circuit breaker is open or half-open in this process',
    labels: {},
  }),
};

/** Definitions of all metrics of webhook delivery. */
export const webhookMetrics = Object.values(metrics);

/** Records metrics of deliveries. */
export interface DeliveryMetrics {
  /** Records one attempt: its duration and, if it succeeded, the delivery latency. */
  recordAttempt(result: AttemptResult, job: Pick<DeliveryJob, 'row' | 'event'>): void;
  /** Counts deliveries that reached their final status. */
  recordFinished(status: 'delivered' | 'failed', count?: number): void;
}

/** Registers the metrics and returns the functions that record them. */
export function createDeliveryMetrics(
  meters: Meters,
  {
    sender,
    queue,
    breakers,
    longPolls,
    now,
  }: {
    queue: Pick<Queue, 'countDue' | 'getOldestDueSeconds'>;
    breakers: Pick<CircuitBreakers, 'openCount'>;
    sender: Pick<Sender, 'inFlight'>;
    longPolls: Pick<LongPolls, 'count'>;
    now: () => Date;
  },
): DeliveryMetrics {
  const attempts = meters.histogram(metrics.attempts);
  const finished = meters.counter(metrics.finished);
  const latency = meters.histogram(metrics.latency);
  meters.gauge(metrics.inFlight, () => sender.inFlight());
  meters.gauge(metrics.due, () => queue.countDue());
  meters.gauge(metrics.dueOldest, () => queue.getOldestDueSeconds());
  meters.gauge(metrics.longPolls, () => longPolls.count());
  meters.gauge(metrics.breakers, () => breakers.openCount());
  return {
    recordAttempt({ http_status, duration_ms, decision }, { row, event }) {
      const status_class = http_status === null ? 'none' : toStatusClass(http_status);
      attempts({ status_class }, (duration_ms ?? 0) / 1000);
      // a redelivered event may be days old, so its age is not a delivery latency
      if (decision.status !== 'delivered' || !row.is_first || !event.occurred_at) return;
      const ageMs = now().getTime() - event.occurred_at.getTime();
      latency({ attempt: String(row.attempts) }, Math.max(0, ageMs) / 1000);
    },
    recordFinished: (status, count = 1) => finished({ status }, count),
  };
}

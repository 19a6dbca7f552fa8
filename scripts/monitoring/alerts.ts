/** Declares the Prometheus alerts. Each one has a section in docs/runbook.md. */
import { getLabelValues } from '../../services/metrics.ts';
import type { Alert, AlertFactory } from './alert.ts';
import { burnRateAlerts } from './burn-rate.ts';
import { maxBy, quantile, series, sumRate } from './queries.ts';
import type { TimeScale } from './time-scale.ts';

/** Creates all alerts, in the order of the runbook. */
export function alerts(timeScale: TimeScale): readonly Alert[] {
  return [...burnRateAlerts, ...availability, ...backlog, ...saturation, ...disks].map((createAlert) =>
    createAlert(timeScale),
  );
}

const idleConnections = series('mongodb_pool_connections', { state: 'idle' });
const outbox = series('outbox_pending_events');

/** Alerts for dependencies and services that are down. */
const availability: readonly AlertFactory[] = [
  ({ duration }) => ({
    name: 'MongoDBDown',
    severity: 'page',
    // a process cannot export outbox metrics while it cannot read from MongoDB
    expr: `count by (instance, service) (${idleConnections})\nunless on (instance, service) ${outbox}`,
    for: duration('1m'),
    summary: '{{ $labels.service }} on {{ $labels.instance }} cannot read from MongoDB.',
  }),
  ({ duration }) => ({
    name: 'RabbitMQDown',
    severity: 'page',
    expr: `count(${series('event_bus_up')} == 0) > 0`,
    for: duration('2m'),
    summary:
      'RabbitMQ is unreachable or blocking publishers for {{ $value }} processes. Writes succeed; events queue in the outbox.',
  }),
  ({ duration }) => ({
    name: 'ServiceDown',
    severity: 'page',
    expr: getLabelValues('service')
      .map((service) => `absent(${series('mongodb_pool_connections', { service })})`)
      .join('\nor '),
    for: duration('2m'),
    summary:
      'No process exports metrics of {{ $labels.service }}: no process is running, or Prometheus cannot scrape it.',
  }),
  ({ duration }) => ({
    name: 'ProcessRestarts',
    severity: 'ticket',
    // every scrape target exports a start time, so this filters by a metric that only the services export;
    // `count_over_time` also matches a process that is down at the moment
    expr: `max by (instance) (
  changes(process_start_time_seconds[${duration('30m')}])
  and on (instance) count_over_time(${series('event_bus_up')}[${duration('30m')}])
) > 2`,
    for: duration('1m'),
    summary: '{{ $labels.instance }} restarted {{ $value }} times within 30 minutes.',
  }),
];

/** Alerts for work that is processed too slowly. */
const backlog: readonly AlertFactory[] = [
  ({ duration, seconds }) => ({
    name: 'OutboxLag',
    severity: 'page',
    expr: `${maxBy(series('outbox_oldest_seconds'), ['service'])} > ${seconds(60)}`,
    for: duration('2m'),
    summary:
      'The oldest unpublished event of {{ $labels.service }} has been in the outbox for {{ $value | humanizeDuration }}.',
  }),
  ({ duration }) => ({
    name: 'EventConsumerLag',
    severity: 'ticket',
    expr: `${maxBy(series('event_queue_messages', { state: 'ready' }), ['service'])} > 1000`,
    for: duration('10m'),
    summary: '{{ $value }} events are waiting in the queue of {{ $labels.service }}.',
  }),
  ({ duration }) => ({
    name: 'DeadLetters',
    severity: 'ticket',
    expr: `${maxBy(series('event_queue_messages', { state: 'dead' }), ['service'])} > 0`,
    for: duration('1m'),
    summary: '{{ $labels.service }} has {{ $value }} dead-lettered events.',
  }),
  ({ duration, seconds }) => ({
    name: 'WebhookDeliveryLag',
    severity: 'ticket',
    expr: `${maxBy(series('webhook_due_oldest_seconds'))} > ${seconds(300)}`,
    for: duration('5m'),
    summary: 'The oldest due webhook delivery has been unclaimed for {{ $value | humanizeDuration }}.',
  }),
  ({ duration, seconds }) => ({
    name: 'AuditLogLag',
    severity: 'ticket',
    expr: `${quantile(0.95, 'audit_log_lag_seconds', duration('5m'))} > ${seconds(60)}`,
    for: duration('5m'),
    summary: 'New entries of the audit log are {{ $value | humanizeDuration }} late.',
  }),
  ({ duration }) => ({
    name: 'WebhookBacklog',
    severity: 'page',
    expr: `${maxBy(series('webhook_due_deliveries'))} > 5000`,
    for: duration('5m'),
    summary: '{{ $value }} webhook deliveries are due and not claimed.',
  }),
  ({ duration, seconds }) => ({
    name: 'AcknowledgementBacklog',
    severity: 'ticket',
    expr: `${maxBy(series('acknowledgement_due_oldest_seconds'))} > ${seconds(300)}`,
    for: duration('5m'),
    summary:
      'The oldest due request for acknowledgement has not been checked for {{ $value | humanizeDuration }}.',
  }),
  ({ duration }) => ({
    name: 'CircuitBreakerStorm',
    severity: 'page',
    // each process has its own circuit breakers for the same endpoints, so the values are not added up
    expr: `${maxBy(series('webhook_circuit_breakers_open'))} > 5`,
    for: duration('2m'),
    summary:
      'The circuit breakers of {{ $value }} webhook endpoints are open at the same time. Outgoing connections may be broken.',
  }),
];

/** Alerts for resources that are used up or too slow. */
const saturation: readonly AlertFactory[] = [
  ({ duration }) => ({
    name: 'ExportRejections',
    severity: 'ticket',
    expr: `sum by (reason) (increase(${series('export_rejected_total', {
      reason: ['queue_full', 'timeout', 'out_of_memory', 'crashed'],
    })}[${duration('15m')}])) > 5`,
    for: duration('1m'),
    summary:
      '{{ $value | printf "%.0f" }} exports were rejected within 15 minutes (reason: {{ $labels.reason }}).',
  }),
  ({ duration }) => ({
    name: 'MongoDBSlow',
    severity: 'ticket',
    expr: `${quantile(0.99, 'mongodb_command_duration_seconds', duration('5m'), { by: ['service'] })} > 0.5`,
    for: duration('10m'),
    summary:
      'The p99 duration of MongoDB commands of {{ $labels.service }} is {{ $value | humanizeDuration }}.',
  }),
  ({ duration }) => ({
    name: 'MongoDBPoolFull',
    severity: 'ticket',
    expr: `${maxBy(series('mongodb_pool_pending_requests'), ['instance', 'service'])} > 10`,
    for: duration('5m'),
    summary:
      '{{ $value }} operations of {{ $labels.service }} on {{ $labels.instance }} are waiting for a MongoDB connection.',
  }),
  ({ duration }) => ({
    name: 'MongoDBErrors',
    severity: 'ticket',
    expr: `${sumRate(series('mongodb_command_duration_seconds', { outcome: 'failed' }, '_count'), duration('5m'), ['service'])}
/ ${sumRate(series('mongodb_command_duration_seconds', {}, '_count'), duration('5m'), ['service'])} > 0.05`,
    for: duration('5m'),
    summary: '{{ $value | humanizePercentage }} of the MongoDB commands of {{ $labels.service }} fail.',
  }),
  ({ duration }) => ({
    name: 'EventLoopLag',
    severity: 'ticket',
    expr: `${quantile(0.95, 'event_loop_lag_seconds', duration('5m'), { by: ['instance'] })} > 0.25`,
    for: duration('5m'),
    summary:
      'The event loop of {{ $labels.instance }} is overloaded: its p95 lag is {{ $value | humanizeDuration }}.',
  }),
];

/** Matches the volumes of MongoDB and RabbitMQ. The kubelet exports these metrics, not the services. */
const volume = '{persistentvolumeclaim=~".*(mongo|rabbit).*"}';
const freeShare = `kubelet_volume_stats_available_bytes${volume}\n/ kubelet_volume_stats_capacity_bytes${volume}`;

/** Alerts for volumes with little free space. */
const disks: readonly AlertFactory[] = [
  ({ duration }) => ({
    name: 'DiskFilling',
    severity: 'ticket',
    expr: `${freeShare} < 0.2`,
    for: duration('10m'),
    summary:
      'Volume {{ $labels.persistentvolumeclaim }} has {{ $value | humanizePercentage }} free space left.',
  }),
  ({ duration }) => ({
    name: 'DiskFull',
    severity: 'page',
    expr: `${freeShare} < 0.07`,
    for: duration('2m'),
    summary:
      'Volume {{ $labels.persistentvolumeclaim }} has {{ $value | humanizePercentage }} free space left. Writes will fail soon.',
  }),
];

/** Alerts: what somebody must be told, when, and whether it may wait for the morning. Each has its section in docs/runbook.md. */
import { getLabelValues } from '../../services/metrics.ts';
import { burning } from './burn-rate.ts';
import { largest, quantile, rateOf, series } from './queries.ts';
import type { TimeScale } from './time-scale.ts';

/** An alert. */
export interface Alert {
  /** Also the heading of its section in the runbook. */
  readonly name: string;
  /** A page wakes somebody; a ticket is looked at in the morning. */
  readonly severity: 'page' | 'ticket';
  readonly expr: string;
  /** How long it must hold. */
  readonly for: string;
  /** One sentence; may name labels and the value as Prometheus' templates do. */
  readonly summary: string;
}

/** All alerts, in the order of the runbook. */
export function alerts(pace: TimeScale): readonly Alert[] {
  return [...burning, ...away, ...behind, ...strained, ...disks].map((one) => one(pace));
}

type Made = (pace: TimeScale) => Alert;

const pool = series('mongodb_pool_connections', { state: 'idle' });
const outbox = series('outbox_pending_events');

/** What is not there. */
const away: readonly Made[] = [
  ({ lasting }) => ({
    name: 'MongoDBDown',
    severity: 'page',
    // what is read from MongoDB is missing while it is away
    expr: `count by (instance, service) (${pool})\nunless on (instance, service) ${outbox}`,
    for: lasting('1m'),
    summary: '{{ $labels.service }} on {{ $labels.instance }} cannot read from MongoDB.',
  }),
  ({ lasting }) => ({
    name: 'RabbitMQDown',
    severity: 'page',
    expr: `count(${series('event_bus_up')} == 0) > 0`,
    for: lasting('2m'),
    summary:
      'For {{ $value }} processes RabbitMQ is away or asks to wait: changes are accepted, their events stay in the outbox.',
  }),
  ({ lasting }) => ({
    name: 'ServiceDown',
    severity: 'page',
    expr: getLabelValues('service')
      .map((service) => `absent(${series('mongodb_pool_connections', { service })})`)
      .join('\nor '),
    for: lasting('2m'),
    summary: 'No process tells of {{ $labels.service }}: none runs, or none can be scraped.',
  }),
  ({ lasting }) => ({
    name: 'ProcessRestarts',
    severity: 'ticket',
    // everything that Prometheus scrapes has a time of its start; a process that is down at the moment is meant too
    expr: `max by (instance) (
  changes(process_start_time_seconds[${lasting('30m')}])
  and on (instance) count_over_time(${series('event_bus_up')}[${lasting('30m')}])
) > 2`,
    for: lasting('1m'),
    summary: '{{ $labels.instance }} was started {{ $value }} times within half an hour.',
  }),
];

/** What waits. */
const behind: readonly Made[] = [
  ({ lasting, seconds }) => ({
    name: 'OutboxLag',
    severity: 'page',
    expr: `${largest(series('outbox_oldest_seconds'), ['service'])} > ${seconds(60)}`,
    for: lasting('2m'),
    summary:
      'An event of {{ $labels.service }} has been waiting for {{ $value | humanizeDuration }} to be sent.',
  }),
  ({ lasting }) => ({
    name: 'EventConsumerLag',
    severity: 'ticket',
    expr: `${largest(series('event_queue_messages', { state: 'ready' }), ['service'])} > 1000`,
    for: lasting('10m'),
    summary: '{{ $value }} events wait for {{ $labels.service }}.',
  }),
  ({ lasting }) => ({
    name: 'DeadLetters',
    severity: 'ticket',
    expr: `${largest(series('event_queue_messages', { state: 'dead' }), ['service'])} > 0`,
    for: lasting('1m'),
    summary: '{{ $labels.service }} has given up {{ $value }} events.',
  }),
  ({ lasting, seconds }) => ({
    name: 'WebhookDeliveryLag',
    severity: 'ticket',
    expr: `${largest(series('webhook_due_oldest_seconds'))} > ${seconds(300)}`,
    for: lasting('5m'),
    summary: 'A delivery has been due for {{ $value | humanizeDuration }}, and nobody has taken it.',
  }),
  ({ lasting }) => ({
    name: 'WebhookBacklog',
    severity: 'page',
    expr: `${largest(series('webhook_due_deliveries'))} > 5000`,
    for: lasting('5m'),
    summary: '{{ $value }} deliveries are due and in no hands.',
  }),
  ({ lasting }) => ({
    name: 'CircuitBreakerStorm',
    severity: 'page',
    // each process has breakers of its own over the same endpoints
    expr: `${largest(series('webhook_circuit_breakers_open'))} > 5`,
    for: lasting('2m'),
    summary: '{{ $value }} endpoints of webhooks do not answer at the same time: the way out may be broken.',
  }),
];

/** What is too much. */
const strained: readonly Made[] = [
  ({ lasting }) => ({
    name: 'ExportRejections',
    severity: 'ticket',
    expr: `sum by (reason) (increase(${series('export_rejected_total', {
      reason: ['queue_full', 'timeout', 'out_of_memory', 'crashed'],
    })}[${lasting('15m')}])) > 5`,
    for: lasting('1m'),
    summary:
      'Files are not made: {{ $labels.reason }}, {{ $value | printf "%.0f" }} times in a quarter of an hour.',
  }),
  ({ lasting }) => ({
    name: 'MongoDBSlow',
    severity: 'ticket',
    expr: `${quantile(0.99, 'mongodb_command_duration_seconds', lasting('5m'), { by: ['service'] })} > 0.5`,
    for: lasting('10m'),
    summary:
      'One in a hundred commands of {{ $labels.service }} to MongoDB takes {{ $value | humanizeDuration }}.',
  }),
  ({ lasting }) => ({
    name: 'MongoDBPoolFull',
    severity: 'ticket',
    expr: `${largest(series('mongodb_pool_pending_requests'), ['instance', 'service'])} > 10`,
    for: lasting('5m'),
    summary: 'Work of {{ $labels.service }} on {{ $labels.instance }} waits for a connection to MongoDB.',
  }),
  ({ lasting }) => ({
    name: 'MongoDBErrors',
    severity: 'ticket',
    expr: `${rateOf(series('mongodb_command_duration_seconds', { outcome: 'failed' }, '_count'), lasting('5m'), ['service'])}
/ ${rateOf(series('mongodb_command_duration_seconds', {}, '_count'), lasting('5m'), ['service'])} > 0.05`,
    for: lasting('5m'),
    summary: '{{ $value | humanizePercentage }} of the commands of {{ $labels.service }} to MongoDB fail.',
  }),
  ({ lasting }) => ({
    name: 'EventLoopLag',
    severity: 'ticket',
    expr: `${quantile(0.95, 'event_loop_lag_seconds', lasting('5m'), { by: ['instance'] })} > 0.25`,
    for: lasting('5m'),
    summary: '{{ $labels.instance }} is too busy to answer: timers are {{ $value | humanizeDuration }} late.',
  }),
];

/** The volumes of the servers that keep something: told by the kubelet, not by the services. */
const volume = '{persistentvolumeclaim=~".*(mongo|rabbit).*"}';
const free = `kubelet_volume_stats_available_bytes${volume}\n/ kubelet_volume_stats_capacity_bytes${volume}`;

const disks: readonly Made[] = [
  ({ lasting }) => ({
    name: 'DiskFilling',
    severity: 'ticket',
    expr: `${free} < 0.2`,
    for: lasting('10m'),
    summary: 'Of {{ $labels.persistentvolumeclaim }} {{ $value | humanizePercentage }} are left.',
  }),
  ({ lasting }) => ({
    name: 'DiskFull',
    severity: 'page',
    expr: `${free} < 0.07`,
    for: lasting('2m'),
    summary:
      'Of {{ $labels.persistentvolumeclaim }} {{ $value | humanizePercentage }} are left: soon nothing can be written.',
  }),
];

/** Test cases for the alert rules: input series, and when the alert fires or does not fire. */

/** Series in promtool's notation: `0+2x60` starts at 0 and grows by 2 in each of 60 steps. */
export type Input = Record<string, string>;

/** One test case. */
export interface Case {
  alert: string;
  severity: 'page' | 'ticket';
  /** Interval between two values. */
  every: '15s' | '1m' | '2m' | '10m';
  series: Input;
  /** When the alert must fire, and for how many series (default 1). */
  fires?: { at: string; times?: number };
  /** When the alert must not fire. */
  silentAt: string;
}

const requests = (status: string) =>
  `http_request_duration_seconds_count{operation="getMe",status_class="${status}"}`;
const bucket = (le: string) =>
  `http_request_duration_seconds_bucket{operation="getMe",status_class="2xx",le="${le}"}`;
const exports = 'http_request_duration_seconds_count{operation="exportWord",status_class="2xx"}';
const deliveries = (status: string) =>
  `webhook_deliveries_total{service="webhook-delivery",status="${status}"}`;
const latency = (end: string) => `webhook_delivery_latency_seconds_${end}`;
const seriesName = (service: string, name: string, more = '') =>
  `${name}{service="${service}",instance="a"${more}}`;
const volume = (what: string) => `kubelet_volume_stats_${what}_bytes{persistentvolumeclaim="data-mongodb-0"}`;

/** Series of each objective, in which `bad` of 100 events in each step are bad. */
const sloSeries: Record<string, (bad: number, steps: number) => Input> = {
  Availability: (bad, n) => ({
    [requests('2xx')]: `0+${100 - bad}x${n}`,
    [requests('5xx')]: `0+${bad}x${n}`,
  }),
  Latency: (bad, n) => ({
    [requests('2xx')]: `0+100x${n}`,
    [bucket('0.5')]: `0+${100 - bad}x${n}`,
    // exports are slow and do not count for this objective
    [exports]: `0+50x${n}`,
  }),
  DeliverySuccess: (bad, n) => ({
    [deliveries('delivered')]: `0+${100 - bad}x${n}`,
    [deliveries('failed')]: `0+${bad}x${n}`,
  }),
  DeliveryAge: (bad, n) => ({
    [`${latency('bucket')}{attempt="1",le="60"}`]: `0+${100 - bad}x${n}`,
    [`${latency('count')}{attempt="1"}`]: `0+100x${n}`,
    // retries are late by design
    [`${latency('count')}{attempt="2"}`]: `0+100x${n}`,
  }),
};

const burnRateCases: readonly Case[] = Object.entries(sloSeries).flatMap(([name, share]) => {
  const budget = name === 'Availability' ? 0.1 : 1;
  const severity = name === 'DeliverySuccess' ? 'ticket' : 'page';
  const fast = { alert: `${name}ErrorBudgetBurnFast`, severity } as const;
  const slow = { alert: `${name}ErrorBudgetBurnSlow`, severity: 'ticket' } as const;
  return [
    // one hour with a high error rate, and three hours with a medium one
    { ...fast, every: '2m', series: share(15 * budget, 35), fires: { at: '65m' }, silentAt: '1m' },
    { ...fast, every: '2m', series: share(7 * budget, 100), fires: { at: '180m' }, silentAt: '1m' },
    { ...fast, every: '2m', series: share(5 * budget, 100), silentAt: '180m' },
    // after recovery the short window stops the alert within 30 minutes, before the long window forgets
    {
      ...fast,
      every: '2m',
      series: appendSeries(share(15 * budget, 30), share(0, 30)),
      fires: { at: '59m' },
      silentAt: '100m',
    },
    { ...slow, every: '10m', series: share(1.3 * budget, 450), fires: { at: '74h' }, silentAt: '30m' },
    { ...slow, every: '10m', series: share(0.8 * budget, 450), silentAt: '74h' },
  ] satisfies Case[];
});

const otherCases: readonly Case[] = [
  {
    ...{ alert: 'MongoDBDown', severity: 'page', every: '15s', fires: { at: '4m' }, silentAt: '2m' },
    // MongoDB is up for two minutes; after that, metrics read from it are missing
    series: {
      [seriesName('identity', 'mongodb_pool_connections', ',state="idle"')]: '3x20',
      [seriesName('identity', 'outbox_pending_events')]: '0x8 stale',
    },
  },
  {
    ...{ alert: 'RabbitMQDown', severity: 'page', every: '15s', fires: { at: '5m' }, silentAt: '3m' },
    series: { 'event_bus_up{instance="a"}': '1x8 0x20', 'event_bus_up{instance="b"}': '1x30' },
  },
  {
    ...{
      alert: 'ServiceDown',
      severity: 'page',
      every: '15s',
      fires: { at: '5m', times: 1 },
      silentAt: '2m',
    },
    series: {
      ...Object.fromEntries(
        ['identity', 'documents', 'sharing', 'export'].map((name) => [
          seriesName(name, 'mongodb_pool_connections'),
          '3x30',
        ]),
      ),
      [seriesName('webhook-delivery', 'mongodb_pool_connections')]: '3x8 stale',
    },
  },
  {
    ...{ alert: 'ProcessRestarts', severity: 'ticket', every: '1m', fires: { at: '10m' }, silentAt: '3m' },
    // the process is down most of the time; restarts of processes that are not services do not count
    series: {
      'process_start_time_seconds{instance="a"}': '1 2 _ 3 4 5 stale',
      'event_bus_up{instance="a"}': '0 0 _ 0 0 0 stale',
      'process_start_time_seconds{instance="b"}': '1+1x20',
    },
  },
  {
    ...{ alert: 'OutboxLag', severity: 'page', every: '15s', fires: { at: '4m' }, silentAt: '2m' },
    series: { [seriesName('documents', 'outbox_oldest_seconds')]: '0+15x30' },
  },
  {
    ...{ alert: 'EventConsumerLag', severity: 'ticket', every: '1m', fires: { at: '12m' }, silentAt: '5m' },
    series: { [seriesName('identity', 'event_queue_messages', ',state="ready"')]: '1500x20' },
  },
  // two replicas report the same queue, which counts once
  {
    ...{
      alert: 'DeadLetters',
      severity: 'ticket',
      every: '15s',
      fires: { at: '5m', times: 1 },
      silentAt: '1m',
    },
    series: {
      [seriesName('identity', 'event_queue_messages', ',state="dead"')]: '0x8 1x20',
      'event_queue_messages{service="identity",instance="b",state="dead"}': '0x8 1x20',
    },
  },
  {
    ...{ alert: 'WebhookDeliveryLag', severity: 'ticket', every: '1m', fires: { at: '15m' }, silentAt: '8m' },
    series: { [seriesName('webhook-delivery', 'webhook_due_oldest_seconds')]: '0+60x30' },
  },
  {
    ...{ alert: 'AuditLogLag', severity: 'ticket', every: '1m', fires: { at: '15m' }, silentAt: '4m' },
    series: Object.fromEntries(
      [
        ['60', '0+0x30'],
        ['600', '0+10x30'],
        ['+Inf', '0+10x30'],
      ].map(([le, values]) => [
        seriesName('identity', 'audit_log_lag_seconds_bucket', `,le="${le}"`),
        values ?? '',
      ]),
    ),
  },
  {
    ...{
      alert: 'AcknowledgementBacklog',
      severity: 'ticket',
      every: '1m',
      fires: { at: '15m' },
      silentAt: '8m',
    },
    series: { [seriesName('sharing', 'acknowledgement_due_oldest_seconds')]: '0+60x30' },
  },
  {
    ...{ alert: 'WebhookBacklog', severity: 'page', every: '1m', fires: { at: '16m' }, silentAt: '8m' },
    series: { [seriesName('webhook-delivery', 'webhook_due_deliveries')]: '0+1000x9 10000x20' },
  },
  // two replicas with four open circuit breakers each do not fire the alert
  {
    ...{ alert: 'CircuitBreakerStorm', severity: 'page', every: '15s', fires: { at: '6m' }, silentAt: '3m' },
    series: {
      [seriesName('webhook-delivery', 'webhook_circuit_breakers_open')]: '4x8 9x20',
      'webhook_circuit_breakers_open{instance="b"}': '4x30',
    },
  },
  {
    ...{
      alert: 'ExportRejections',
      severity: 'ticket',
      every: '1m',
      fires: { at: '10m', times: 1 },
      silentAt: '2m',
    },
    series: {
      'export_rejected_total{reason="queue_full"}': '0x3 0+2x20',
      'export_rejected_total{reason="too_large"}': '0+5x20',
    },
  },
  {
    ...{ alert: 'MongoDBSlow', severity: 'ticket', every: '1m', fires: { at: '25m' }, silentAt: '8m' },
    series: histogram('mongodb_command_duration_seconds', 'service="documents"', { 0.1: 90, 1: 100 }),
  },
  {
    ...{ alert: 'MongoDBPoolFull', severity: 'ticket', every: '1m', fires: { at: '8m' }, silentAt: '3m' },
    series: { [seriesName('documents', 'mongodb_pool_pending_requests')]: '50x20' },
  },
  {
    ...{ alert: 'MongoDBErrors', severity: 'ticket', every: '1m', fires: { at: '12m' }, silentAt: '3m' },
    series: Object.fromEntries(
      [
        ['ok', 90],
        ['failed', 10],
      ].map(([outcome, count]) => [
        seriesName('documents', 'mongodb_command_duration_seconds_count', `,outcome="${outcome}"`),
        `0+${count}x20`,
      ]),
    ),
  },
  {
    ...{ alert: 'EventLoopLag', severity: 'ticket', every: '1m', fires: { at: '12m' }, silentAt: '4m' },
    series: histogram('event_loop_lag_seconds', 'instance="a"', { 0.1: 50, 0.5: 100 }),
  },
  {
    ...{ alert: 'DiskFilling', severity: 'ticket', every: '1m', fires: { at: '20m' }, silentAt: '5m' },
    series: { [volume('available')]: '15x30', [volume('capacity')]: '100x30' },
  },
  {
    ...{ alert: 'DiskFull', severity: 'page', every: '1m', fires: { at: '20m' }, silentAt: '9m' },
    series: { [volume('available')]: '15-1x30', [volume('capacity')]: '100x30' },
  },
];

/** All test cases; each alert fires in at least one. */
export const cases: readonly Case[] = [...burnRateCases, ...otherCases];

/** A histogram whose buckets grow by the given counts in each step. `+Inf` has the largest count. */
function histogram(name: string, labels: string, buckets: Record<number, number>): Input {
  const all = Math.max(...Object.values(buckets));
  const bounds = [...Object.entries(buckets), ['+Inf', all]];
  return Object.fromEntries(
    bounds.map(([le, count]) => [`${name}_bucket{${labels},le="${le}"}`, `0+${count}x60`]),
  );
}

/** Appends series to others with the same names. Counters continue from their last value. */
function appendSeries(before: Input, after: Input): Input {
  return Object.fromEntries(
    Object.entries(before).map(([name, values]) => {
      const [, step = 0, steps = 0] = /^0\+([\d.]+)x(\d+)$/.exec(values) ?? [];
      return [name, `${values} ${after[name]?.replace(/^0/, String(Number(step) * Number(steps)))}`];
    }),
  );
}

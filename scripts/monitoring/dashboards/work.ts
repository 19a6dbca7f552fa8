/** The dashboards of background work: webhook deliveries and exports. */
import type { Row } from '../grafana.ts';
import {
  maxPanel,
  metricPanel,
  perInstancePanel,
  quantilePanel,
  quantilesPanel,
  ratePanel,
} from '../panels.ts';
import { series } from '../queries.ts';

/** The rows of the dashboard "Webhook deliveries". */
export const webhookRows: readonly Row[] = [
  {
    title: 'Latency and success',
    panels: [
      quantilesPanel('Latency from change to endpoint, first attempt', 'webhook_delivery_latency_seconds', {
        ...{ labels: { attempt: '1' }, redFrom: 60 },
      }),
      ratePanel('Finished deliveries', 'webhook_deliveries_total', ['status']),
      ratePanel('Attempts', 'webhook_attempt_duration_seconds', ['status_class']),
      quantilesPanel('Attempt duration', 'webhook_attempt_duration_seconds'),
    ],
  },
  {
    title: 'Backlog',
    panels: [
      maxPanel('Due deliveries', 'webhook_due_deliveries', [], { redFrom: 5000 }),
      maxPanel('Age of the oldest due delivery', 'webhook_due_oldest_seconds', [], { redFrom: 300 }),
      perInstancePanel('Open circuit breakers', 'webhook_circuit_breakers_open', { redFrom: 6 }),
      perInstancePanel('Requests in flight', 'webhook_in_flight_requests'),
    ],
  },
];

/** The rows of the dashboard "Exports". */
export const exportRows: readonly Row[] = [
  {
    title: 'Exports',
    panels: [
      quantilePanel('Export duration, p95', [0.95, 'export_duration_seconds'], ['format', 'size']),
      ratePanel('Exports', 'export_duration_seconds', ['format', 'size']),
      ratePanel('Rejected exports', 'export_rejected_total', ['reason'], { orZero: true }),
      metricPanel('Queued and running exports', 'export_queue_length', [
        { expr: `sum(${series('export_queue_length')})`, legend: 'queued' },
        { expr: `sum(${series('export_in_progress')})`, legend: 'running' },
      ]),
    ],
  },
];

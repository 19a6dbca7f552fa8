/** What works in the background: deliveries of webhooks, and files. */
import type { Row } from '../grafana.ts';
import { each, graph, most, often, quantileBy, spread } from '../panels.ts';
import { series } from '../queries.ts';

/** How soon and how well deliveries arrive, and what waits. */
export const webhooks: readonly Row[] = [
  {
    title: 'How soon, how well',
    panels: [
      spread('From the change to the receiver, first attempt', 'webhook_delivery_latency_seconds', {
        ...{ labels: { attempt: '1' }, redFrom: 60 },
      }),
      often('Ended deliveries', 'webhook_deliveries_total', ['status']),
      often('Attempts', 'webhook_attempt_duration_seconds', ['status_class']),
      spread('Time of an attempt', 'webhook_attempt_duration_seconds'),
    ],
  },
  {
    title: 'What waits',
    panels: [
      most('Due deliveries', 'webhook_due_deliveries', [], { redFrom: 5000 }),
      most('Oldest due delivery', 'webhook_due_oldest_seconds', [], { redFrom: 300 }),
      each('Endpoints left alone', 'webhook_circuit_breakers_open', { redFrom: 6 }),
      each('Requests in flight', 'webhook_in_flight_requests'),
    ],
  },
];

/** Files that are made, that wait, and that were refused. */
export const exports: readonly Row[] = [
  {
    title: 'Files',
    panels: [
      quantileBy('Time to make a file, p95', [0.95, 'export_duration_seconds'], ['format', 'size']),
      often('Files', 'export_duration_seconds', ['format', 'size']),
      often('Refused', 'export_rejected_total', ['reason'], { orNone: true }),
      graph('Waiting and running', 'export_queue_length', [
        { ask: `sum(${series('export_queue_length')})`, name: 'waiting' },
        { ask: `sum(${series('export_in_progress')})`, name: 'running' },
      ]),
    ],
  },
];

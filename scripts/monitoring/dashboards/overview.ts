/** The overview dashboard: service level objectives, incoming requests and backlogs. */
import type { Row } from '../grafana.ts';
import { objectives, recordedRatio } from '../objectives.ts';
import { maxPanel, metricPanel, quantilesPanel, rateInterval, ratePanel } from '../panels.ts';
import { series, sumRate } from '../queries.ts';

const requests = 'http_request_duration_seconds';
const problems = 'http_problems_total';

/** The rows of the dashboard "Overview". */
export const overviewRows: readonly Row[] = [
  {
    title: 'Objectives: share of good events in the last 3 days',
    panels: objectives.map(({ slo, title, description, target }) => ({
      ...{ title, description: `${description}.`, unit: 'percentunit', type: 'stat', redBelow: target },
      lines: [{ expr: `1 - ${recordedRatio(slo, '3d')}`, legend: title }],
    })),
  },
  {
    title: 'Burn rates: 1 spends the error budget of 30 days in 30 days, 14.4 in about 2 days',
    panels: objectives.map(({ slo, title, target }) => ({
      ...{ title, description: 'Speed at which the error budget is spent; 1 spends it in exactly 30 days.' },
      ...{ unit: 'short', redFrom: 14.4 },
      lines: (['5m', '1h', '6h', '3d'] as const).map((window) => ({
        expr: `${recordedRatio(slo, window)} / ${Number((1 - target).toPrecision(6))}`,
        legend: window,
      })),
    })),
  },
  {
    title: 'Requests',
    panels: [
      ratePanel('Requests', requests, ['status_class'], { unit: 'reqps' }),
      quantilesPanel('Request duration', requests),
      metricPanel(
        'Problems',
        problems,
        [
          {
            expr: `topk(10, ${sumRate(series(problems), rateInterval, ['code'])}) or vector(0)`,
            legend: '{{code}}',
          },
        ],
        { unit: 'reqps' },
      ),
      ratePanel('Requests without an operation', 'http_unmatched_requests_total', ['status_class'], {
        ...{ unit: 'reqps', orZero: true },
      }),
    ],
  },
  {
    title: 'Backlogs',
    panels: [
      maxPanel('Age of the oldest unpublished event', 'outbox_oldest_seconds', ['service'], { redFrom: 60 }),
      maxPanel('Dead letters', 'event_queue_messages', ['service'], {
        labels: { state: 'dead' },
        redFrom: 1,
      }),
      maxPanel('Age of the oldest due delivery', 'webhook_due_oldest_seconds', [], { redFrom: 300 }),
      metricPanel('Queued exports', 'export_queue_length', [
        { expr: `sum(${series('export_queue_length')})`, legend: 'waiting' },
      ]),
    ],
  },
];

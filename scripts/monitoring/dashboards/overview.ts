/** The overview: what is promised and whether it is kept; then what comes in and what waits. */
import type { Row } from '../grafana.ts';
import { objectives, recorded } from '../objectives.ts';
import { graph, most, now, often, spread } from '../panels.ts';
import { rateOf, series } from '../queries.ts';

const requests = 'http_request_duration_seconds';
const problems = 'http_problems_total';

/** Its rows. */
export const overview: readonly Row[] = [
  {
    title: 'Objectives: the share that was good in the last three days',
    panels: objectives.map(({ slo, title, means, promised }) => ({
      ...{ title, tells: `${means}.`, unit: 'percentunit', as: 'stat', redBelow: promised },
      lines: [{ ask: `1 - ${recorded(slo, '3d')}`, name: title }],
    })),
  },
  {
    title: 'Burn rates: 1 spends the budget of 30 days in 30 days, 14.4 in two',
    panels: objectives.map(({ slo, title, promised }) => ({
      ...{ title, tells: 'How many times faster than it lasts the budget is spent.' },
      ...{ unit: 'short', redFrom: 14.4 },
      lines: (['5m', '1h', '6h', '3d'] as const).map((window) => ({
        ask: `${recorded(slo, window)} / ${Number((1 - promised).toPrecision(6))}`,
        name: window,
      })),
    })),
  },
  {
    title: 'What comes in',
    panels: [
      often('Requests', requests, ['status_class'], { unit: 'reqps' }),
      spread('Time to answer', requests),
      graph(
        'Problems',
        problems,
        [{ ask: `topk(10, ${rateOf(series(problems), now, ['code'])}) or vector(0)`, name: '{{code}}' }],
        { unit: 'reqps' },
      ),
      often('No operation', 'http_unmatched_requests_total', ['status_class'], {
        ...{ unit: 'reqps', orNone: true },
      }),
    ],
  },
  {
    title: 'What waits',
    panels: [
      most('Oldest event that was not sent', 'outbox_oldest_seconds', ['service'], { redFrom: 60 }),
      most('Dead letters', 'event_queue_messages', ['service'], { labels: { state: 'dead' }, redFrom: 1 }),
      most('Oldest due delivery', 'webhook_due_oldest_seconds', [], { redFrom: 300 }),
      graph('Files that wait', 'export_queue_length', [
        { ask: `sum(${series('export_queue_length')})`, name: 'waiting' },
      ]),
    ],
  },
];

/** The dashboard of MongoDB and RabbitMQ, as seen by the services, and of the processes. */
import type { Row } from '../grafana.ts';
import {
  maxPanel,
  metricPanel,
  perInstancePanel,
  quantilePanel,
  quantilesPanel,
  rateInterval,
  ratePanel,
} from '../panels.ts';
import { series } from '../queries.ts';

const commands = 'mongodb_command_duration_seconds';
const connections = 'mongodb_pool_connections';

/** The rows of the dashboard "Dependencies". */
export const dependencyRows: readonly Row[] = [
  {
    title: 'MongoDB',
    panels: [
      quantilePanel('Command duration, p99', [0.99, commands], ['service'], { redFrom: 0.5 }),
      ratePanel('Commands', commands, ['command', 'outcome']),
      metricPanel('Connections', connections, [
        { expr: `sum by (service, state) (${series(connections)})`, legend: '{{service}} {{state}}' },
      ]),
      quantilesPanel('Wait time for a connection', 'mongodb_pool_wait_seconds'),
    ],
  },
  {
    title: 'RabbitMQ',
    panels: [
      metricPanel(
        'Event bus up',
        'event_bus_up',
        [{ expr: `min(${series('event_bus_up')})`, legend: 'all processes' }],
        {
          redBelow: 1,
        },
      ),
      maxPanel('Events in queues', 'event_queue_messages', ['service', 'state']),
      maxPanel('Unpublished events', 'outbox_pending_events', ['service']),
    ],
  },
  {
    title: 'Processes',
    panels: [
      quantilePanel('Event loop lag, p95', [0.95, 'event_loop_lag_seconds'], ['instance'], { redFrom: 0.25 }),
      perInstancePanel('Memory', 'process_memory_rss_bytes'),
      {
        ...{ title: 'CPU', description: 'CPU cores that each process uses.', unit: 'short' },
        lines: [{ expr: `rate(process_cpu_seconds_total[${rateInterval}])`, legend: '{{instance}}' }],
      },
      metricPanel('Versions', 'build_info', [
        { expr: `count by (version, runtime) (${series('build_info')})`, legend: '{{version}} {{runtime}}' },
      ]),
    ],
  },
];

/** MongoDB and RabbitMQ as the services see them, and the processes themselves. */
import type { Row } from '../grafana.ts';
import { each, graph, most, now, often, quantileBy, spread } from '../panels.ts';
import { series } from '../queries.ts';

const commands = 'mongodb_command_duration_seconds';
const connections = 'mongodb_pool_connections';

/** Its rows. */
export const dependencies: readonly Row[] = [
  {
    title: 'MongoDB',
    panels: [
      quantileBy('Time of commands, p99', [0.99, commands], ['service'], { redFrom: 0.5 }),
      often('Commands', commands, ['command', 'outcome']),
      graph('Connections', connections, [
        { ask: `sum by (service, state) (${series(connections)})`, name: '{{service}} {{state}}' },
      ]),
      spread('Waiting for a connection', 'mongodb_pool_wait_seconds'),
    ],
  },
  {
    title: 'RabbitMQ',
    panels: [
      graph(
        'Carries events',
        'event_bus_up',
        [{ ask: `min(${series('event_bus_up')})`, name: 'all processes' }],
        {
          redBelow: 1,
        },
      ),
      most('Events in queues', 'event_queue_messages', ['service', 'state']),
      most('Events that were not sent', 'outbox_pending_events', ['service']),
    ],
  },
  {
    title: 'Processes',
    panels: [
      quantileBy('Event loop, p95', [0.95, 'event_loop_lag_seconds'], ['instance'], { redFrom: 0.25 }),
      each('Memory', 'process_memory_rss_bytes'),
      {
        ...{ title: 'CPU', tells: 'Cores that a process uses.', unit: 'short' },
        lines: [{ ask: `rate(process_cpu_seconds_total[${now}])`, name: '{{instance}}' }],
      },
      graph('Versions', 'build_info', [
        { ask: `count by (version, runtime) (${series('build_info')})`, name: '{{version}} {{runtime}}' },
      ]),
    ],
  },
];

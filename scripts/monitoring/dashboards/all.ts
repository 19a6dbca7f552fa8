/** The dashboards: an overview to begin with, those of webhooks, exports and dependencies, and one for each service. */
import { contracts } from '../../../services/contracts.ts';
import { dashboard, type Row } from '../grafana.ts';
import { dependencies } from './dependencies.ts';
import { overview } from './overview.ts';
import { ofService } from './service.ts';
import { exports, webhooks } from './work.ts';

/** All dashboards, by the names of their files. */
export function dashboards(): Record<string, string> {
  const each = contracts.map(
    (one) =>
      [`service-${one.name}`, one.title, `Requests and events of ${one.name}.`, ofService(one)] as const,
  );
  return Object.fromEntries([...general, ...each].map(([name, ...of]) => [name, made(name, ...of)]));
}

type Dashboard = readonly [name: string, title: string, tells: string, rows: readonly Row[]];

const general: readonly Dashboard[] = [
  [
    'overview',
    'Overview',
    'What is promised and whether it is kept; then what comes in and waits.',
    overview,
  ],
  ['webhooks', 'Webhook deliveries', 'How soon and how well they arrive, and what waits.', webhooks],
  ['exports', 'Exports', 'Files that are made, that wait, and that were refused.', exports],
  ['dependencies', 'Dependencies', 'MongoDB, RabbitMQ, and the processes themselves.', dependencies],
];

function made(name: string, title: string, tells: string, rows: readonly Row[]): string {
  return dashboard({ uid: `pds-${name}`, title: `Process documents: ${title}`, tells, rows });
}

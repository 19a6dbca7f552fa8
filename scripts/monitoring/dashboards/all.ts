/** Lists the dashboards: overview, webhook deliveries, exports, dependencies, and one for each service. */
import { contracts } from '../../../services/contracts.ts';
import { type Row, renderDashboard } from '../grafana.ts';
import { dependencyRows } from './dependencies.ts';
import { overviewRows } from './overview.ts';
import { serviceRows } from './service.ts';
import { exportRows, webhookRows } from './work.ts';

/** Renders all dashboards, by file name without extension. */
export function dashboards(): Record<string, string> {
  const services = contracts.map((contract) => {
    const { name, title } = contract;
    return [`service-${name}`, title, `Requests and events of ${name}.`, serviceRows(contract)] as const;
  });
  return Object.fromEntries(
    [...sharedDashboards, ...services].map((dashboard) => [dashboard[0], render(dashboard)]),
  );
}

type Dashboard = readonly [name: string, title: string, description: string, rows: readonly Row[]];

const sharedDashboards: readonly Dashboard[] = [
  ['overview', 'Overview', 'Service level objectives, incoming requests and backlogs.', overviewRows],
  ['webhooks', 'Webhook deliveries', 'Latency, success and backlog of webhook deliveries.', webhookRows],
  ['exports', 'Exports', 'Rendered, queued and rejected exports.', exportRows],
  ['dependencies', 'Dependencies', 'MongoDB, RabbitMQ and the processes of the services.', dependencyRows],
];

function render([name, title, description, rows]: Dashboard): string {
  return renderDashboard({ uid: `pds-${name}`, title: `Process documents: ${title}`, description, rows });
}

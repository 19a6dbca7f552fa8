/** Generates docs/capacity-planning.md from the latest saved benchmark results. */
import { readFileSync } from 'node:fs';
import { parseResults } from './benchmark-results.ts';
import { readChartResources } from './chart-resources.ts';
import { renderPage, renderTable } from './page.ts';

const results = parseResults(
  JSON.parse(readFileSync(new URL('../bench/results/latest.json', import.meta.url), 'utf8')),
);

/** CPU time of one operation, ms: of the services, MongoDB and RabbitMQ. */
interface Cost {
  own: number;
  mongodb: number;
  broker: number;
}

/** Daily work of one organization: what, times per day (assumed), benchmark row with its cost, service. */
const requests = [
  ['documents read, unchanged since', 400, 'five processes: read a tree of 200 nodes', 'documents'],
  ['documents read, changed', 100, 'five processes: read a tree of 200 nodes, not cached', 'documents'],
  ['lists', 100, 'five processes: list 50 of 20,000 documents', 'documents'],
  ['nodes written', 100, 'five processes: create a node', 'documents'],
  ['documents published, with their events', 10, 'five processes: publish (10 nodes)', 'documents'],
  ['public links read', 1_000, 'five processes: read a public link', 'sharing'],
  ['Word files', 5, 'a Word file of 60 nodes, newly made', 'export'],
  ['logins', 20, 'log in', 'identity'],
] as const;
const deliveryRow = 'webhook: CPU time per delivery, sustained';
const deliveriesPerDay = 30;
const busiestHourShare = 0.2;

const work = [
  ...requests.map(([what, perDay, row, service]) => ({ what, perDay, row, service, each: getCost(row) })),
  {
    what: 'webhook deliveries',
    perDay: deliveriesPerDay,
    row: deliveryRow,
    service: 'webhook-delivery',
    each: { own: results.limit(deliveryRow), mongodb: 0, broker: 0 },
  },
];

/** The rows that measure one process do not tell what MongoDB and RabbitMQ take. */
function getCost(row: string): Cost {
  if (row.startsWith('five processes')) return results.systemCpuMs(row);
  return { own: results.cpuMs(row), mongodb: 0, broker: 0 };
}

const cpuMsPerDay = (service?: string, part: keyof Cost = 'own') =>
  work
    .filter((line) => service === undefined || line.service === service)
    .reduce((sum, { perDay, each }) => sum + perDay * each[part], 0);
const perDay = cpuMsPerDay();
const requestsPerDay = requests.reduce((sum, [, times]) => sum + times, 0);

/** Rate per second in the busiest hour of work that happens `times` per day in each organization. */
const perSecond = (times: number, organizations = 1) => (times * busiestHourShare * organizations) / 3_600;
const cores = (organizations: number, service?: string, part?: keyof Cost) =>
  perSecond(cpuMsPerDay(service, part), organizations) / 1_000;
const storeCores = (organizations: number, part: 'mongodb' | 'broker') =>
  cores(organizations, undefined, part);
const login = results.cpuMs('log in') / 1_000;
const mondayLogins = (organizations: number) => (20 * organizations) / 1_800;
const mondayCores = (organizations: number) => mondayLogins(organizations) * login;

const number = (value: number, digits = 2) =>
  (value >= 10 ** digits ? Math.round(value) : Number(value.toPrecision(digits))).toLocaleString('en', {
    maximumFractionDigits: 6,
  });
const coresText = (value: number) => `${value < 10 ? value.toPrecision(2) : number(value)} cores`;
const optional = (value: number) => (value === 0 ? '–' : number(value, 3));
const percent = (part: number, whole: number) => `${number((part / whole) * 100)} %`;

/** Assumed price per month of a core and of a GB of memory. */
const [priceOfCore, priceOfGb] = [30, 4];
/** Assumed memory for each core of the services, GB. */
const gbPerCore = 2;

/** The content of docs/capacity-planning.md. */
export function capacityPage(): string {
  return renderPage(
    'Capacity planning',
    [introduction(), dailyLoad(), for10(), for1000(), for100000(), constantCosts()],
    'the newest results of the benchmarks',
  );
}

function introduction(): string {
  return `This page calculates what you need for 10, 1,000 and 100,000 organizations, what it costs, and what fails first.

- **Measured** numbers come from a complete benchmark run on ${results.date} (commit ${results.commit}, ${results.cores} cores that the load
  generator shared). See the [results](../bench/results/latest.md).
- **Assumed** numbers describe how people work. Replace them with yours: the page shows every calculation.
- **Estimated** numbers are guesses. Nothing on more than one machine has been measured.

Numbers are rounded for display only, not during the calculation.`;
}

function dailyLoad(): string {
  const rows = work.map(({ what, perDay: times, each, row }) => [
    ...[what, number(times, 4), number(each.own, 3), optional(each.mongodb), optional(each.broker)],
    ...[row, number(times * each.own, 4)],
  ]);
  const sizes = [10, 1_000, 100_000].map((organizations) => [
    number(organizations, 6),
    number(perSecond(requestsPerDay, organizations)),
    number(cores(organizations)),
    number(perSecond(110, organizations)),
    number(perSecond(deliveriesPerDay, organizations)),
    `${number(mondayLogins(organizations))} = ${coresText(mondayCores(organizations))}`,
    coresText(storeCores(organizations, 'mongodb')),
    coresText(storeCores(organizations, 'broker')),
  ]);
  const total = [
    '**total**',
    `${number(requestsPerDay, 4)} requests`,
    '',
    '',
    '',
    '',
    `**${number(perDay, 4)}**`,
  ];
  return `## Load of one organization

Assumed: 50 members, 200 documents, and 20 % of the daily work in the busiest hour. CPU time is that of one operation,
with authentication and everything that follows: events, search words and deliveries. The rows *five processes* measure
it for the services, MongoDB and RabbitMQ. The other rows measure the services only.

${renderTable(
  [
    ...['work', 'per day (assumed)', 'CPU ms each (measured)', 'of MongoDB', 'of RabbitMQ'],
    ...['benchmark', 'CPU ms per day, services'],
  ],
  [...rows, total],
)}

Busiest hour of one organization:

- CPU: ${number(perDay, 4)} ms × ${busiestHourShare} ÷ 3,600 s = ${number(perSecond(perDay))} ms per second
- requests: ${number(requestsPerDay, 4)} × ${busiestHourShare} ÷ 3,600 s = ${number(perSecond(requestsPerDay))} per second

Logins take ${percent(cpuMsPerDay('identity'), perDay)} of the CPU time, because password hashing is slow by design.

${renderTable(
  [
    ...['organizations', 'requests per second', 'cores of the services', 'writes per second'],
    ...['deliveries per second', 'logins per second if all come within 30 minutes'],
    ...['cores of MongoDB', 'cores of RabbitMQ'],
  ],
  sizes,
)}

- Writes: (100 + 10) × ${busiestHourShare} ÷ 3,600 s for each organization.
- Cores for logins: 20 × organizations ÷ 1,800 s × ${number(login, 3)} s.
- Cores of MongoDB and RabbitMQ: ${number(cpuMsPerDay(undefined, 'mongodb'), 3)} and ${number(cpuMsPerDay(undefined, 'broker'), 3)} ms per day for each organization.
- Disk space, assuming 50 KB per document with its revisions and search index row: 200 × 50 KB = 10 MB for each
  organization, in total 100 MB, 10 GB and 1 TB.`;
}

function for10(): string {
  const idle = results.limit('CPU time of an idle process per second');
  const exporting = 'read a document under load of exports of 1,000 nodes';
  return `## 10 organizations

**Setup:** one process (\`services/all.ts\`) and one MongoDB. You do not need RabbitMQ, because the process has an
in-memory event bus.

- CPU: an idle process takes ${number(idle, 3)} ms per second (measured; ${percent(idle, 1_000)} of a core). The work takes ${number(cores(10) * 1_000)} ms per second:
  idling costs ${number(idle / (cores(10) * 1_000))} times as much.
- Memory: after many requests of all kinds the process had ${number(results.memoryMb, 3)} MB (measured). Give it 1.5 GB.

**Cost:** 1 core and 3 GB, including MongoDB.

**What fails first:** the machine, because there is only one. Acknowledged changes are on its disk. After that,
exports slow down readers: p99 of reads is ${number(results.p99Ratio(exporting), 3)} times as high while Word files of 1,000 nodes are
exported continuously on two cores (measured; the goal of 1.5 is ${results.p99Ratio(exporting) <= 1.5 ? 'met' : 'missed'}).`;
}

function for1000(): string {
  const many = 1_000;
  const limitGb = (service: string) => readChartResources(service).memoryLimit;
  const chart = (service: string) => [readChartResources(service).cpu, limitGb(service)] as const;
  const parts = [
    [
      'identity, 2',
      2,
      1,
      limitGb('identity'),
      `${coresText(mondayCores(many))} for the logins of a Monday morning`,
    ],
    [
      ...(['documents, 2', 2, ...chart('documents')] as const),
      `at most ${number(results.limit('resident memory of a documents process under reads'), 3)} MB under reads (measured); the processes that import files take the rest`,
    ],
    [
      ...(['sharing, webhook-delivery, 2 each', 4, ...chart('sharing')] as const),
      `${number(perSecond(deliveriesPerDay, many))} deliveries per second; one process can send ${number(results.limit('webhook: deliveries of one process, sustained'), 4)} (measured)`,
    ],
    [
      ...(['export, 2', 2, ...chart('export')] as const),
      `a worker takes up to 512 MB; 5,000 files × ${busiestHourShare} ÷ 3,600 s = ${number(perSecond(5, many))} per second; one process can render ${number(results.perSecond('a Word file of 60 nodes, newly made'))} (measured)`,
    ],
    [
      ...(['MongoDB, 3', 3, 2, 8] as const),
      `10 GB of data, the busy part in memory (estimated); ${coresText(storeCores(many, 'mongodb'))} in the busiest hour (measured)`,
    ],
    [
      ...(['RabbitMQ, 3', 3, 0.5, 1] as const),
      `${number(perSecond(10, many))} published documents per second; one node can carry ${number(results.perSecond('events through the RabbitMQ bus'), 5)} events (measured)`,
    ],
  ] as const;
  const sum = (lines: readonly (readonly [string, number, number, number, string])[]) => ({
    cpu: lines.reduce((total, [, count, cpu]) => total + count * cpu, 0),
    gb: lines.reduce((total, [, count, , gb]) => total + count * gb, 0),
  });
  const price = ({ cpu, gb }: { cpu: number; gb: number }) => cpu * priceOfCore + gb * priceOfGb;
  const all = sum(parts);
  const stores = sum(parts.slice(-2));
  const reading = 'read a document under load of 16 logins';
  return `## 1,000 organizations

**Setup:** five services with two replicas each, MongoDB with three members and RabbitMQ with three nodes. One
replica of each service could do the work; the second one is for availability.

${renderTable(
  ['', 'cores (requested)', 'memory (limit)', 'reason'],
  parts.map(([what, count, cpu, gb, why]) => [what, `${count} × ${cpu}`, `${count} × ${gb} GB`, why]),
)}

The numbers of the services are those of the [chart](kubernetes.md#scaling), with one core for identity instead of
${readChartResources('identity').cpu}. The cost counts the limits of memory, because imports and exports use them.

**Cost:** ${all.cpu} cores and ${all.gb} GB. At ${priceOfCore} per core and ${priceOfGb} per GB and month (assumed) this is ${all.cpu} × ${priceOfCore} +
${all.gb} × ${priceOfGb} = ${price(all)} per month, or ${number(price(all) / many)} for each organization. MongoDB and RabbitMQ take ${price(stores)} of it.

**What fails first:** logins. A core handles 1 ÷ ${number(login, 3)} s = ${number(1 / login, 3)} logins per second; the others wait. While 16
people log in at once, p99 of a read is ${number(results.p99Ratio(reading), 3)} times as high (measured on two cores). Add replicas of identity,
because only identity hashes passwords of users. After that, many concurrent exports of large documents fail
([ExportRejections](runbook.md#exportrejections)).`;
}

function for100000(): string {
  const many = 100_000;
  const services = ['identity', 'documents', 'sharing', 'export'] as const;
  const twice = (service: string) => Math.ceil(2 * cores(many, service));
  const why = {
    identity: `CPU; on a Monday morning ${number(mondayCores(many))}`,
    documents: 'CPU',
    sharing: 'CPU; an HTTP cache in front of it may cache what its `ETag` and `Cache-Control` allow',
    export: `${number(perSecond(5, many))} files per second; one process can render ${number(results.perSecond('a Word file of 60 nodes, newly made'))} (measured)`,
  };
  const deliveries = perSecond(deliveriesPerDay, many);
  const delivery = readChartResources('webhook-delivery');
  const rows = services.map((service) => [
    service,
    `${number(cpuMsPerDay(service), 4)} ÷ ${number(perDay, 4)} of ${number(cores(many), 3)} = ${number(cores(many, service))}; × 2 = ${twice(service)}`,
    why[service],
  ]);
  rows.push([
    'webhook-delivery',
    `${number(cores(many, 'webhook-delivery'))}; two replicas of ${delivery.cpu} cores`,
    `${number(deliveries, 3)} per second, ${percent(deliveries, results.limit('webhook: deliveries of one process, sustained'))} of what one process can send (measured)`,
  ]);
  const cpu = services.reduce((sum, service) => sum + twice(service), 2 * delivery.cpu);
  const gb = cpu * gbPerCore;
  const cost = cpu * priceOfCore + gb * priceOfGb + 96 * priceOfCore + 768 * priceOfGb;
  return `## 100,000 organizations

**Setup:** the same, with autoscaling. The cores are twice those of the busiest hour, so that half of them are
free.

${renderTable(['', 'cores', 'scaled by'], rows)}

**MongoDB:** ${number(perSecond(110, many))} writes per second, and at least two reads for each of ${number(perSecond(requestsPerDay, many))} requests per second (the principal
and the resource). This is about ${number(Math.round((perSecond(requestsPerDay, many) * 2) / 1_000) * 1_000, 5)} commands per second on 1 TB of data: more than the memory of one machine,
and near the limit of one primary (estimated). It takes ${coresText(storeCores(many, 'mongodb'))} (measured on one machine, without replication).
Shard \`documents\`, \`nodes\` and the other large collections by \`{organization_id: 1, _id: 1}\`. Every query of a hot path
contains the organization or an id, and tests verify that queries use their indexes. The collections of identity stay
unsharded. **Sharding has not been tested: try it with your data first.**

**RabbitMQ:** ${number(perSecond(10, many))} published documents per second; one node without replication can carry ${number(results.perSecond('events through the RabbitMQ bus'), 5)} events
(measured).

**Cost:** ${cpu} cores of services, and at ${gbPerCore} GB per core ${gb} GB. Assume four MongoDB shards of three
members with 8 cores and 64 GB each (96 cores, 768 GB). At the prices above this is
${cpu} × ${priceOfCore} + ${gb} × ${priceOfGb} + 96 × ${priceOfCore} + 768 × ${priceOfGb} = ${number(cost, 5)} per month, or ${number(cost / many)} for each organization.

**What fails first:** logins on a Monday morning. They take ${number(mondayCores(many))} cores within 30 minutes, ${number(mondayCores(many) / cores(many))} times what the
services take in the busiest hour. Clients can refresh their sessions instead of logging in again
(\`POST /auth/refresh\`). Sign-in through an identity provider would help too, but does not exist. After that, the disk of
MongoDB's primary is the limit.`;
}

function constantCosts(): string {
  const ms = (name: string) => `${number(results.limit(name), 3)} ms`;
  const ageLimits = [95, 99].map(
    (percentile) => `webhook: event to receiver, 100 per second, p${percentile}`,
  );
  const areMet = ageLimits.every((name) => results.isMet(name));
  return `## Costs that do not grow with organizations

${renderTable(
  ['cost', 'measured'],
  [
    [
      'a list of 50 out of 1,000,000 documents, compared to 50 out of 1,000',
      `ratio ${number(results.cpuRatio('list 50 of 1,000,000 vs. 50 of 1,000'))}`,
    ],
    [
      'a search for a word in 1 % of the 100,000 documents of one organization',
      `p95 ${ms('search 100,000 documents: a word in 1 %')}`,
    ],
    [
      'creating a revision of a document of 10,000 nodes',
      `at most ${ms('revise a document of 10,000 nodes')}`,
    ],
    [
      'delay of other requests while such a document is read',
      `at most ${ms('another request while a 10,000-node tree is read')}`,
    ],
    [
      'delivery to a healthy endpoint while 49 of 50 endpoints hang',
      `p99 ${ms('webhook: healthy under load of 49 hanging endpoints, p99')}`,
    ],
    [
      'webhooks at 100 published documents per second, by one process on two shared cores',
      `${ageLimits.map((name) => `${name.slice(-3)} ${ms(name)}`).join(', ')} (goals 50 and 90 ms are ${areMet ? 'met' : 'missed'})`,
    ],
  ],
)}`;
}

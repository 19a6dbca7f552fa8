/** The page of what runs for how many organizations: calculated from the newest results of the benchmarks, so that it cannot go stale. */
import { readFileSync } from 'node:fs';
import { measured } from './measured.ts';
import { page, table } from './page.ts';

const of = measured(
  JSON.parse(readFileSync(new URL('../bench/results/latest.json', import.meta.url), 'utf8')),
);

/** What an organization does in a day is assumed; what each piece of it costs is a row of the results. */
const work = [
  ['documents read, unchanged since', 400, 'read a 200-node tree, unchanged', 'documents'],
  ['documents read, changed', 100, 'read a 200-node tree, cold', 'documents'],
  ['lists', 100, 'list 50 of 100,000', 'documents'],
  ['nodes written', 100, 'create a node', 'documents'],
  ['published, with all that hears it', 10, 'publish (10 nodes), 32 organizations', 'documents'],
  ['public pages', 1_000, 'embed, page (200 nodes)', 'sharing'],
  ['Word files', 5, 'a Word file of 60 nodes, made anew', 'export'],
  ['logins', 20, 'log in', 'identity'],
] as const;
const deliveriesADay = 30;
const inBusiestHour = 0.2;

const lines = [
  ...work.map(([what, aDay, row, service]) => ({ what, aDay, row, service, each: of.cpuMs(row) })),
  {
    what: 'webhook deliveries',
    aDay: deliveriesADay,
    row: 'webhook: CPU time of a delivery, sustained',
    service: 'webhook-delivery',
    each: of.timing('webhook: CPU time of a delivery, sustained'),
  },
];
const msOf = (service?: string) =>
  lines
    .filter((line) => service === undefined || line.service === service)
    .reduce((sum, { aDay, each }) => sum + aDay * each, 0);
const aDay = msOf();
const requestsADay = work.reduce((sum, [, times]) => sum + times, 0);

/** So many a second in the busiest hour, of what happens so often in a day of an organization. */
const aSecond = (times: number, organizations = 1) => (times * inBusiestHour * organizations) / 3_600;
const cores = (organizations: number, service?: string) => aSecond(msOf(service), organizations) / 1_000;
const login = of.cpuMs('log in') / 1_000;
const loginsAtOnce = (organizations: number) => (20 * organizations) / 1_800;
const mondayCores = (organizations: number) => loginsAtOnce(organizations) * login;

const number = (value: number, digits = 2) =>
  (value >= 10 ** digits ? Math.round(value) : Number(value.toPrecision(digits))).toLocaleString('en', {
    maximumFractionDigits: 6,
  });
const coresText = (value: number) => `${value < 10 ? value.toPrecision(2) : number(value)} cores`;
const percent = (part: number, whole: number) => `${number((part / whole) * 100)} %`;

/** What a core and a GB cost in a month, assumed. */
const [priceOfCore, priceOfGb] = [30, 4];

/** docs/capacity-planning.md */
export function capacityPage(): string {
  return page(
    'Scaling',
    [opening(), day(), ten(), thousand(), hundredThousand(), constant()],
    'the newest results of the benchmarks',
  );
}

function opening(): string {
  return `What runs for 10, 1,000 and 100,000 organizations, what it costs, and what breaks first. **Measured** is what a whole run of the benchmarks printed on ${of.date} (commit ${of.commit}, ${of.cores} cores that the load shared; [the results](../bench/results/latest.md) are a page of their own); **assumed** is how people work; everything else is calculated here, so that you can put your own numbers in. A figure is rounded when it is written and not before.
Not measured, and so not more than a guess: MongoDB's and RabbitMQ's own CPU, and anything on more than one machine.`;
}

function day(): string {
  const rows = lines.map(({ what, aDay: times, each, row }) => [
    ...[what, number(times, 4), number(each, 3), row, number(times * each, 4)],
  ]);
  const sizes = [10, 1_000, 100_000].map((organizations) => [
    number(organizations, 6),
    number(aSecond(requestsADay, organizations)),
    number(cores(organizations)),
    number(aSecond(110, organizations)),
    number(aSecond(deliveriesADay, organizations)),
    `${number(loginsAtOnce(organizations))} = ${coresText(mondayCores(organizations))}`,
  ]);
  return `## A day of an organization

Assumed: 50 members, 200 documents, a fifth of the day in its busiest hour. CPU is that of the services, with authentication, per piece of work.

${table(
  ['work', 'a day (assumed)', 'CPU ms each (measured)', 'row of the results', 'CPU ms a day'],
  [...rows, ['**together**', `${number(requestsADay, 4)} requests`, '', '', `**${number(aDay, 4)}**`]],
)}

Busiest hour: ${number(aDay, 4)} ms × ${inBusiestHour} ÷ 3,600 s = ${number(aSecond(aDay))} ms of CPU a second for each organization, and ${number(requestsADay, 4)} × ${inBusiestHour} ÷ 3,600 s = ${number(aSecond(requestsADay))} requests a second. ${percent(msOf('identity'), aDay)} of it are logins: they are expensive on purpose.

${table(
  [
    ...['organizations', 'requests a second', 'cores of the services', 'writes a second'],
    ...['deliveries a second', 'logins a second, if all come within half an hour'],
  ],
  sizes,
)}

Writes: (100 + 10) × ${inBusiestHour} ÷ 3,600 s each. Logins: 20 × organizations ÷ 1,800 s × ${number(login, 3)} s. Room on disk (assumed 50 KB a document with its revisions and search row): 200 × 50 KB = 10 MB each: 100 MB, 10 GB, 1 TB.`;
}

function ten(): string {
  const idle = of.timing('CPU time of an idle process in a second');
  const exporting = 'read a document while Word files of 1,000 nodes are made, against without';
  return `## 10 organizations

**Runs:** \`services/all.ts\`, one process, beside one MongoDB; RabbitMQ is not needed, the bus within the process does it. A process that does nothing takes ${number(idle, 3)} ms of CPU a second (measured: ${percent(idle, 1_000)} of a core), ${number(idle / (cores(10) * 1_000))} times the ${number(cores(10) * 1_000)} ms that the work takes. After every row of the benchmarks it had ${number(of.memoryMb, 3)} MB (measured); give it 1.5 GB.

**Costs:** 1 core and 3 GB with MongoDB. **Breaks first:** the machine. There is no second one; what was answered is on its disk. Next: exports beside readers: p99 of reads is ${number(of.p99Ratio(exporting), 3)} times as high while files of 1,000 nodes are made without a break on two cores (measured; the goal of 1.5 is ${of.p99Ratio(exporting) <= 1.5 ? 'met' : 'missed'}).`;
}

function thousand(): string {
  const many = 1_000;
  const parts = [
    ['identity, 2', 2, 1, 0.5, `${coresText(mondayCores(many))} of logins on a Monday morning`],
    [
      ...(['documents, 2', 2, 0.25, 0.5] as const),
      `at most ${number(of.timing('resident memory of a documents process that reads'), 3)} MB while it reads (measured)`,
    ],
    [
      ...(['sharing, webhook-delivery, 2 each', 4, 0.25, 0.5] as const),
      `${number(aSecond(deliveriesADay, many))} deliveries a second of ${number(of.timing('webhook: deliveries of one process, sustained'), 4)} that one process can (measured)`,
    ],
    [
      ...(['export, 2', 2, 0.25, 1.25] as const),
      `a thread takes up to 512 MB; 5,000 files × ${inBusiestHour} ÷ 3,600 s = ${number(aSecond(5, many))} a second of ${number(of.perSecond('a Word file of 60 nodes, made anew'))} (measured)`,
    ],
    ['MongoDB, 3', 3, 2, 8, '10 GB of data, the busy part in memory (guess)'],
    [
      ...(['RabbitMQ, 3', 3, 0.5, 1] as const),
      `${number(aSecond(10, many))} published documents a second of ${number(of.perSecond('events through the RabbitMQ bus'), 5)} events (measured for one node)`,
    ],
  ] as const;
  const sum = (which: readonly (readonly [string, number, number, number, string])[]) => ({
    cpu: which.reduce((all, [, count, cpu]) => all + count * cpu, 0),
    gb: which.reduce((all, [, count, , gb]) => all + count * gb, 0),
  });
  const price = ({ cpu, gb }: { cpu: number; gb: number }) => cpu * priceOfCore + gb * priceOfGb;
  const all = sum(parts);
  const kept = sum(parts.slice(-2));
  const reading = 'read a document while 16 log in, against without';
  return `## 1,000 organizations

**Runs:** five services, two replicas of each so that one may go (the work would fit into one), MongoDB with three members, RabbitMQ with three nodes.

${table(
  ['', 'cores (requested)', 'memory', 'why'],
  parts.map(([what, count, cpu, gb, why]) => [what, `${count} × ${cpu}`, `${count} × ${gb} GB`, why]),
)}

**Costs:** ${all.cpu} cores and ${all.gb} GB: at ${priceOfCore} a month for a core and ${priceOfGb} for a GB (assumed) ${all.cpu} × ${priceOfCore} + ${all.gb} × ${priceOfGb} = ${price(all)} a month, ${number(price(all) / many)} for each organization; ${price(kept)} of it for MongoDB and RabbitMQ. **Breaks first:** logins. A core does 1 ÷ ${number(login, 3)} s = ${number(1 / login, 3)} a second; more wait, and while 16 log in at once p99 of a read is ${number(of.p99Ratio(reading), 3)} times as high (measured, on two cores). The remedy is replicas of identity alone: nobody else computes passwords. Next: exports of many large documents at once ([ExportRefused](runbook.md#exportrefused)).`;
}

function hundredThousand(): string {
  const many = 100_000;
  const services = ['identity', 'documents', 'sharing', 'export'] as const;
  const twice = (service: string) => Math.ceil(2 * cores(many, service));
  const why = {
    identity: `CPU; for a Monday morning ${number(mondayCores(many))}`,
    documents: 'CPU',
    sharing: 'CPU; a cache before it keeps what its `ETag` and `Cache-Control` allow',
    export: `${number(aSecond(5, many))} files a second of ${number(of.perSecond('a Word file of 60 nodes, made anew'))} for a process (measured)`,
  };
  const deliveries = aSecond(deliveriesADay, many);
  const rows = services.map((service) => [
    service,
    `${number(msOf(service), 4)} ÷ ${number(aDay, 4)} of ${number(cores(many), 3)} = ${number(cores(many, service))}; × 2 = ${twice(service)}`,
    why[service],
  ]);
  rows.push([
    'webhook-delivery',
    `${number(cores(many, 'webhook-delivery'))}; two replicas of a quarter`,
    `${number(deliveries, 3)} a second, ${percent(deliveries, of.timing('webhook: deliveries of one process, sustained'))} of one process (measured)`,
  ]);
  const cpu = services.reduce((sum, service) => sum + twice(service), 0.5);
  const gb = cpu * 2;
  const cost = cpu * priceOfCore + gb * priceOfGb + 96 * priceOfCore + 768 * priceOfGb;
  return `## 100,000 organizations

**Runs:** the same, by its own autoscaling. Cores below are those of the busiest hour, twice, so that half is free.

${table(['', 'cores', 'by'], rows)}

**MongoDB:** ${number(aSecond(110, many))} writes a second, and for each of ${number(aSecond(requestsADay, many))} requests at least two reads (who asks, and what): some ${number(Math.round((aSecond(requestsADay, many) * 2) / 1_000) * 1_000, 5)} commands a second and 1 TB of data. That is more than the memory of one machine and near the end of one primary (guess): shard \`documents\`, \`nodes\` and the other large collections by \`{organization_id: 1, _id: 1}\`; every query of a hot path carries the organization or an id, and tests hold the queries to their indexes. identity's collections stay where they are. **That was never run here: try it with your data first.**

**RabbitMQ:** ${number(aSecond(10, many))} published documents a second, of ${number(of.perSecond('events through the RabbitMQ bus'), 5)} events (measured for one node without replication).

**Costs:** ${cpu} cores of services, at 0.5 GB for a quarter core ${gb} GB; with, say, four shards of three members of 8 cores and 64 GB (96 cores, 768 GB): at the prices above ${cpu} × ${priceOfCore} + ${gb} × ${priceOfGb} + 96 × ${priceOfCore} + 768 × ${priceOfGb} = ${number(cost, 5)} a month, ${number(cost / many)} for each organization. **Breaks first:** Monday morning: ${number(mondayCores(many))} cores of logins within half an hour, ${number(mondayCores(many) / cores(many))} times what the services take in the busiest hour. Sessions that are refreshed instead of logged in anew are the remedy that is there (\`POST /auth/refresh\`); identity provider sign-in would be the next. Then MongoDB's primary, by its disk.`;
}

function constant(): string {
  const ms = (name: string) => `${number(of.timing(name), 3)} ms`;
  const soon = [95, 99].map((one) => `webhook: event to receiver, 100 a second, p${one}`);
  const met = soon.every((name) => of.isMet(name));
  return `## What does not grow with organizations

${table(
  ['limit', 'measured'],
  [
    [
      'lists: 50 of 1,000,000 cost as much as 50 of 1,000',
      `ratio ${number(of.cpuRatio('list 50 of 1,000,000 against 50 of 1,000'))}`,
    ],
    [
      'search: a word in 1 % of 100,000 documents of one organization',
      `p95 ${ms('q: a word in 1 % of 100,000 documents')}`,
    ],
    ['a document of 10,000 nodes, revised', `at most ${ms('revise a document of 10,000 nodes')}`],
    [
      'while such a document is read, others wait',
      `at most ${ms('another request while a 10,000-node tree is read')}`,
    ],
    [
      'endpoints that hang, beside healthy ones: 49 of 50',
      `p99 ${ms('webhook: healthy beside 49 endpoints that hang, p99')}`,
    ],
    [
      'webhooks at 100 published documents a second by one process on two shared cores',
      `${soon.map((name) => `${name.slice(-3)} ${ms(name)}`).join(', ')} (goals 50 and 90 ms are ${met ? 'met' : 'missed'})`,
    ],
  ],
)}`;
}

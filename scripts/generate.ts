/**
 * Generates reference pages, chart files, dashboards and rules (`npm run generate`). `--check` fails if a
 * file is stale.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { type AnyOperation, type EventType, getProblems, openapi } from '#libs/contract';
import { commonSettings } from '#libs/service';
import { toGrants } from '#libs/store';
import { about } from '../services/about.ts';
import { apiReference } from '../services/api-reference.ts';
import { apiPrefix, contracts } from '../services/contracts.ts';
import { services } from '../services/services.ts';
import { actors, parseRowName, table as permissions, type Rule } from '../tests/permissions/table.ts';
import { readResults } from '../tests/security/long/results.ts';
import { capacityPage } from './capacity-page.ts';
import { ingressRoutes } from './chart-routes.ts';
import { valuesSchema } from './chart-schema.ts';
import { caddyfile } from './compose-routes.ts';
import { deprecationsSection } from './deprecations.ts';
import { faultTolerancePage } from './fault-tolerance-page.ts';
import { invariantsPage } from './invariants-page.ts';
import { metricsPage } from './metrics-page.ts';
import { monitoringFiles } from './monitoring/files.ts';
import { renderPage, renderTable } from './page.ts';
import { renderPageWithFiles } from './page-with-files.ts';
import { reliabilityPage } from './reliability-page.ts';
import { richTextPage } from './rich-text-page.ts';

const root = new URL('..', import.meta.url);

const files: Record<string, string> = {
  'docs/contracts/openapi.json': `${JSON.stringify(openapi(contracts, apiReference), null, 2)}\n`,
  'docs/contracts/operations.md': operationsPage(),
  'docs/contracts/problems.md': problemsPage(),
  'docs/contracts/events.md': eventsPage(),
  'docs/contracts/ownership.md': ownershipPage(),
  'docs/contracts/grants.md': grantsPage(),
  'docs/capacity-planning.md': capacityPage(),
  'docs/fault-tolerance.md': faultTolerancePage(),
  'docs/invariants.md': invariantsPage(),
  'docs/metrics.md': renderPage('Metrics', await metricsPage(), 'the declarations of the metrics'),
  'docs/permissions.md': permissionsPage(),
  'docs/reliability.md': reliabilityPage(readResults()),
  'docs/rich-text.md': renderPage('Rich text', richTextPage(), 'the declarations of nodes and marks'),
  'docs/settings.md': settingsPage(),
  'docs/webhooks.md': await renderPageWithFiles('docs/webhooks.md'),
  'charts/platform/files/routes.json': `${JSON.stringify(ingressRoutes(contracts, apiPrefix), null, 2)}\n`,
  'charts/platform/values.schema.json': `${JSON.stringify(valuesSchema(services), null, 2)}\n`,
  'compose/Caddyfile': caddyfile(contracts, apiPrefix),
  ...monitoringFiles(),
};

const stale = [];
for (const [path, text] of Object.entries(files)) {
  const file = fileURLToPath(new URL(path, root));
  const before = await readFile(file, 'utf8').catch(() => undefined);
  if (before === text) continue;
  stale.push(path);
  if (process.argv.includes('--check')) continue;
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, text);
}
if (stale.length === 0) console.log(`All ${Object.keys(files).length} generated files are up to date`);
else if (process.argv.includes('--check')) {
  console.error(`Out of date: ${stale.join(', ')}. Run \`npm run generate\` and commit the changes.`);
  process.exitCode = 1;
} else console.log(`Written: ${stale.join(', ')}`);

function operationsPage(): string {
  const row = (operation: AnyOperation) => [
    operation.summary,
    formatRoute(operation),
    operation.access.name,
    String(operation.status),
  ];
  const sections = contracts.map(
    ({ title, description, operations }) =>
      `## ${title}\n\n${description}\n\n${renderTable(['operation', 'route', 'access', 'success status'], operations.map(row))}`,
  );
  return renderPage('Operations', [
    'All operations of the API. [Permissions](../permissions.md) shows the access of each role in detail.',
    ...sections,
    deprecationsSection(contracts),
  ]);
}

function problemsPage(): string {
  const kinds = new Map(
    contracts.flatMap(({ operations }) => operations.flatMap(getProblems)).map((kind) => [kind.code, kind]),
  );
  const rows = [...kinds.values()]
    .sort((a, b) => a.status - b.status || a.code.localeCompare(b.code))
    .map(({ code, status, title }) => [String(status), `\`${code}\``, title]);
  return renderPage('Problems', [
    'Every error is `application/problem+json` (RFC 9457). `code` is stable, so programs can rely on it. See\n' +
      '[errors](../api.md#errors).',
    renderTable(['status', 'code', 'meaning'], rows),
  ]);
}

function eventsPage(): string {
  const listServices = (event: EventType, list: 'publishes' | 'consumes') =>
    contracts
      .filter((contract) => contract[list].includes(event))
      .map(({ name }) => name)
      .join(', ');
  const events = new Set(contracts.flatMap(({ publishes }) => publishes));
  const rows = [...events].map((event) => [
    `\`${event.name}\``,
    event.description,
    listServices(event, 'publishes'),
    listServices(event, 'consumes'),
    event.subscribable ? 'yes' : 'no',
  ]);
  return renderPage('Events', [
    'The events of all services. The last column shows whether [webhooks](../webhooks.md) can subscribe to the event.',
    renderTable(['event', 'meaning', 'published by', 'consumed by', 'webhooks'], rows),
  ]);
}

function ownershipPage(): string {
  const rows = contracts.map(({ name, owns, views, reads }) => [
    name,
    formatList(owns),
    formatList(views.map((view) => view.name)),
    formatList(reads.map((view) => view.name)),
  ]);
  return renderPage('Data ownership', [
    'Only the owner of a collection reads and writes it. Other services read the views that the owner publishes.',
    renderTable(['service', 'owned collections', 'published views', 'views read'], rows),
  ]);
}

function grantsPage(): string {
  const sections = contracts.map((contract) => {
    const rows = toGrants(contract).map(({ collection, actions }) => [
      collection ? `\`${collection}\`` : 'the database',
      actions.join(', '),
    ]);
    return `## ${contract.name}\n\n${renderTable(['collection or view', 'allowed actions'], rows)}`;
  });
  return renderPage('MongoDB grants', [
    'Each service has its own MongoDB user. `npm run admin -- mongo-users` creates these users, each with a role that has\n' +
      'exactly these grants.',
    ...sections,
  ]);
}

function permissionsPage(): string {
  const rows: Record<string, Rule> = permissions;
  const sign = { yes: '✓', own: 'own' } as const;
  const row = (operation: AnyOperation) => {
    const named = Object.entries(rows).filter(([name]) => parseRowName(name).operation === operation.id);
    return named.map(([name, { allowed, outcomes }]) => [
      [formatRoute(operation), parseRowName(name).special].filter(Boolean).join(' '),
      allowed,
      ...actors.map((actor) => {
        const outcome = outcomes[actor];
        return typeof outcome === 'number' ? String(outcome) : sign[outcome];
      }),
    ]);
  };
  const sections = contracts.map(
    ({ title, operations }) =>
      `## ${title}\n\n${renderTable(['operation', 'allowed for', ...actors], operations.flatMap(row))}`,
  );
  const adminOperations = contracts.flatMap((contract) => contract.adminOperations ?? []);
  const routes = adminOperations
    .map((operation) => `- ${formatRoute(operation)}: ${operation.summary}`)
    .join('\n');
  const operator = `## The operator

The operator calls these routes on the management port with \`OPS_TOKEN\`. Every other credential is 401, and
too many wrong ones from one address are 429 (\`OPS_TOKEN_FAILURES_PER_MINUTE\`). The API port does not have these routes.

${routes}

A new plan takes effect with the next request. There is one exception: if an organization leaves the Scale plan, its
events can still create webhook deliveries for up to 5 seconds.`;
  return renderPage(
    'Permissions',
    [permissionRules(), ...sections, operator],
    '`tests/permissions/table.ts`',
  );
}

function permissionRules(): string {
  return `The tables show the response to each operation for each kind of caller. Tests check every cell.

| cell | meaning |
| --- | --- |
| **✓** | allowed |
| **own** | allowed, but only for resources of the caller or of the caller’s own organization |
| **401** | no valid credential: none was sent, the key has expired or is revoked, or the member was removed |
| **403** | the caller may see the resource but not do this |
| **404** | the caller may not know that the resource exists; same response as for a resource that does not exist |

The columns:

- *Other organization*: an admin of another organization, even if this admin owns the resource as a member of both
  organizations. A plain member there gets 403 where only admins are allowed.
- *Editor*: the assigned editor of the document. For other resources, any member.
- *Owner*: the member who created the resource. For a key or an inbox, its member.
- *Member key*: an API key with the role \`member\`, or a key of a person who is not an admin any more.
- *Revoked key*: the key itself, and all keys that were created with it.
- *Removed member*: an access token or API key of a removed member.

More rules:

- An API key acts as the member who created it, limited to the role of the key.
- Changing your password, or creating a password reset for a member, requires a login. An API key gets 403.
- *Scale plan*: on another plan, every member of the organization gets \`403 scale_plan_required\`.`;
}

function settingsPage(): string {
  const section = (title: string, shape: z.ZodObject) => {
    const schema = z.toJSONSchema(shape, { io: 'input', unrepresentable: 'any' });
    const rows = Object.entries(schema.properties ?? {}).map(([name, property]) => {
      const { description, enum: choices } = typeof property === 'object' ? property : {};
      const sentences = [description, choices && `One of ${choices.join(', ')}`].filter(Boolean);
      return [`\`${name}\``, formatDefault(shape.shape[name]), sentences.join('. ')];
    });
    return rows.length === 0 ? [] : [`## ${title}\n\n${renderTable(['name', 'default', 'meaning'], rows)}`];
  };
  const own = services.flatMap(({ contract, settings }) => section(contract.title, settings));
  const local = `A local run is \`npm start\` without \`MONGODB_URI\`. It differs as follows:

- It also reads \`DATA_DIR\` (default \`.data\`) and stores its data there.
- It generates its secrets at the first start and stores them there too.
- It always listens on \`127.0.0.1\`.
- It has other defaults: \`DEFAULT_PLAN=scale\`, \`WEBHOOK_ALLOW_INSECURE_TARGETS=true\`, \`LOG_FORMAT=pretty\`,
  \`DRAIN_SECONDS=3\`, \`APP_URL\` with the value of \`PORT\`, and 0 (no limit) for \`RATE_LIMIT_PER_MINUTE\`,
  \`REGISTRATIONS_PER_HOUR\`, \`LOGINS_PER_MINUTE\`, \`LOGIN_FAILURES_PER_15_MINUTES\` and
  \`EMBED_NOT_FOUND_RATE_LIMIT_PER_MINUTE\`.

With \`MONGODB_URI\`, only the defaults in the tables apply.`;
  return renderPage('Settings', [
    'All settings are environment variables. At startup, the process reports all invalid settings at once.',
    local,
    ...section('Every process', commonSettings),
    ...own,
  ]);
}

/** Formats the default value of a setting. */
function formatDefault(setting: z.ZodType): string {
  const { success, data } = setting.safeParse(undefined);
  if (!success) return 'required';
  return data === undefined || (Array.isArray(data) && data.length === 0) ? 'unset' : `\`${data}\``;
}

function formatRoute({ at, path, method }: AnyOperation): string {
  return `\`${method.toUpperCase()} ${at === 'root' ? path : about.apiPrefix + path}\``;
}

function formatList(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(', ') || '–';
}

/**
 * Generates reference pages, chart files, dashboards and rules (`npm run generate`). `--check` fails if a
 * file is stale.
 */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type AnyOperation, type EventType, getProblems, MethodNotAllowed, openapi } from '#libs/contract';
import { toGrants } from '#libs/store';
import { about } from '../services/about.ts';
import { apiReference } from '../services/api-reference.ts';
import { apiPrefix, contracts } from '../services/contracts.ts';
import { services } from '../services/services.ts';
import { actors, parseRowName, table as permissions, type Rule } from '../tests/permissions/table.ts';
import { readResults } from '../tests/security/long/results.ts';
import { auditLogExample } from './audit-log-example.ts';
import { capacityPage } from './capacity-page.ts';
import { ingressRoutes } from './chart-routes.ts';
import { valuesSchema } from './chart-schema.ts';
import { caddyfile } from './compose-routes.ts';
import { deprecationsSection } from './deprecations.ts';
import { faultTolerancePage } from './fault-tolerance-page.ts';
import { gitAttributes } from './git-attributes.ts';
import { invariantsPage } from './invariants-page.ts';
import { metricsPage } from './metrics-page.ts';
import { monitoringFiles } from './monitoring/files.ts';
import { renderPage, renderTable } from './page.ts';
import { renderPageWithFiles } from './page-with-files.ts';
import { reliabilityPage } from './reliability-page.ts';
import { richTextPage } from './rich-text-page.ts';
import { settingsPage } from './settings-page.ts';

const root = new URL('..', import.meta.url);

const files: Record<string, string> = {
  'docs/audit-log/audit-log.ts': await readFile(new URL('clients/typescript/src/audit-log.ts', root), 'utf8'),
  'docs/audit-log/verify_audit_log.py': await readFile(
    new URL('clients/python/src/process_document_service/_audit_log.py', root),
    'utf8',
  ),
  'docs/audit-log/example.jsonl': auditLogExample(),
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
  'docs/settings.md': settingsPage(services),
  'docs/webhooks.md': await renderPageWithFiles('docs/webhooks.md'),
  'charts/platform/files/routes.json': `${JSON.stringify(ingressRoutes(contracts, apiPrefix), null, 2)}\n`,
  'charts/platform/values.schema.json': `${JSON.stringify(valuesSchema(services), null, 2)}\n`,
  'compose/Caddyfile': caddyfile(contracts, apiPrefix),
  ...monitoringFiles(),
};

// webhooks.md is written by hand, except for the files in it
const collapsed = ['docs/contracts/examples.json', ...Object.keys(files)].filter(
  (path) => path !== 'docs/webhooks.md',
);
files['.gitattributes'] = gitAttributes(collapsed);

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
    [MethodNotAllowed, ...contracts.flatMap(({ operations }) => operations.flatMap(getProblems))].map(
      (kind) => [kind.code, kind],
    ),
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
  const rows = contracts.map(({ name, owns, appends = [], views, reads }) => [
    name,
    formatList(owns),
    formatList(appends),
    formatList(views.map((view) => view.name)),
    formatList(reads.map((view) => view.name)),
  ]);
  return renderPage('Data ownership', [
    'Only the owner of a collection reads and writes it. To an append-only collection it adds rows, and MongoDB rejects\n' +
      'every change and removal of a row. Other services read the views that the owner publishes.',
    renderTable(
      ['service', 'owned collections', 'append-only collections', 'published views', 'views read'],
      rows,
    ),
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

function formatRoute({ at, path, method }: AnyOperation): string {
  return `\`${method.toUpperCase()} ${at === 'root' ? path : about.apiPrefix + path}\``;
}

function formatList(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(', ') || '–';
}

/** Generated files: the reference, its tables, dashboards and rules, made from the contracts. `--check` fails when one is stale. */
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { z } from 'zod';
import { type AnyOperation, openapi, problemsOf } from '#libs/contract';
import { commonSettings } from '#libs/service';
import { grantsOf } from '#libs/store';
import { apiPrefix, contracts } from '../services/contracts.ts';
import { about } from '../services/identity/reference.ts';
import { services } from '../services/services.ts';
import { actors, table as permissions, type Rule, rowOf } from '../tests/permissions/table.ts';
import { capacityPage } from './capacity-page.ts';
import { ingressRoutes } from './chart-routes.ts';
import { valuesSchema } from './chart-schema.ts';
import { faultTolerancePage } from './fault-tolerance-page.ts';
import { metricsPage } from './metrics-page.ts';
import { operatingFiles } from './operating/files.ts';
import { page, table } from './page.ts';
import { pageWithFiles } from './page-with-files.ts';

const root = new URL('..', import.meta.url);

const files: Record<string, string> = {
  'docs/contracts/openapi.json': `${JSON.stringify(openapi(contracts, about), null, 2)}\n`,
  'docs/contracts/operations.md': operationsPage(),
  'docs/contracts/problems.md': problemsPage(),
  'docs/contracts/events.md': eventsPage(),
  'docs/contracts/ownership.md': ownershipPage(),
  'docs/contracts/grants.md': grantsPage(),
  'docs/capacity-planning.md': capacityPage(),
  'docs/fault-tolerance.md': faultTolerancePage(),
  'docs/metrics.md': page('Metrics', await metricsPage(), 'the declarations of the metrics'),
  'docs/permissions.md': permissionsPage(),
  'docs/settings.md': settingsPage(),
  'docs/webhooks.md': await pageWithFiles('docs/webhooks.md'),
  'charts/platform/files/routes.json': `${JSON.stringify(ingressRoutes(contracts, apiPrefix), null, 2)}\n`,
  'charts/platform/values.schema.json': `${JSON.stringify(valuesSchema(services), null, 2)}\n`,
  ...operatingFiles(),
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
if (stale.length === 0) console.log(`${Object.keys(files).length} generated files are fresh`);
else if (process.argv.includes('--check')) {
  console.error(`Stale: ${stale.join(', ')}. Run \`npm run generate\` and commit what it changes.`);
  process.exitCode = 1;
} else console.log(`Written: ${stale.join(', ')}`);

function operationsPage(): string {
  const row = (operation: AnyOperation) => [
    operation.summary,
    routeOf(operation),
    operation.access.name,
    String(operation.status),
  ];
  const sections = contracts.map(
    ({ title, description, operations }) =>
      `## ${title}\n\n${description}\n\n${table(['operation', 'route', 'who', 'success'], operations.map(row))}`,
  );
  return page('Operations', sections);
}

function problemsPage(): string {
  const kinds = new Map(
    contracts.flatMap(({ operations }) => operations.flatMap(problemsOf)).map((kind) => [kind.code, kind]),
  );
  const rows = [...kinds.values()]
    .sort((a, b) => a.status - b.status || a.code.localeCompare(b.code))
    .map(({ code, status, title }) => [String(status), `\`${code}\``, title]);
  return page('Problems', [
    'Every error is `application/problem+json` (RFC 9457); `code` is stable.',
    table(['status', 'code', 'meaning'], rows),
  ]);
}

function eventsPage(): string {
  const heardBy = (name: string) =>
    contracts.filter(({ consumes }) => consumes.some((event) => event.name === name)).map((one) => one.name);
  const rows = contracts.flatMap(({ name, publishes }) =>
    publishes.map((event) => [
      `\`${event.name}\``,
      event.description,
      name,
      heardBy(event.name).join(', ') || '–',
      event.subscribable ? 'yes' : 'no',
    ]),
  );
  return page('Events', [table(['event', 'meaning', 'said by', 'heard by', 'webhooks'], rows)]);
}

function ownershipPage(): string {
  const rows = contracts.map(({ name, owns, views, reads }) => [
    name,
    list(owns),
    list(views.map((view) => view.name)),
    list(reads.map((view) => view.name)),
  ]);
  return page('Who owns and reads what', [
    table(['service', 'owns', 'publishes the views', 'reads the views'], rows),
  ]);
}

function grantsPage(): string {
  const sections = contracts.map((contract) => {
    const rows = grantsOf(contract).map(({ on, actions }) => [
      on ? `\`${on}\`` : 'the database',
      actions.join(', '),
    ]);
    return `## ${contract.name}\n\n${table(['collection or view', 'may'], rows)}`;
  });
  return page('Who may do what in MongoDB', [
    'Each service has a user of its own in MongoDB; `npm run mongo-users` makes it with a role of exactly these grants.',
    ...sections,
  ]);
}

function permissionsPage(): string {
  const rows: Record<string, Rule> = permissions;
  const sign = { yes: '✓', own: 'own' } as const;
  const row = (operation: AnyOperation) => {
    const named = Object.entries(rows).filter(([name]) => rowOf(name).operation === operation.id);
    return named.map(([name, { who, outcomes }]) => [
      [routeOf(operation), rowOf(name).special].filter(Boolean).join(' '),
      who,
      ...actors.map((actor) => {
        const outcome = outcomes[actor];
        return typeof outcome === 'number' ? String(outcome) : sign[outcome];
      }),
    ]);
  };
  const sections = contracts.map(
    ({ title, operations }) =>
      `## ${title}\n\n${table(['operation', 'who may', ...actors], operations.flatMap(row))}`,
  );
  const operates = contracts.flatMap((one) => one.adminOperations ?? []);
  const ops = operates.map((operation) => `- ${routeOf(operation)}: ${operation.summary}`).join('\n');
  const planChanges =
    'Another plan counts with the next request. Only the matching of events to webhooks may notice up to 5 seconds\n' +
    'later that an organization left the Scale plan: an event from those seconds may still be sent.';
  const operator = `## The operator\n\nOn the management port, with \`OPS_TOKEN\`. Every other credential is 401 there, and the API does not know these routes.\n\n${ops}\n\n${planChanges}`;
  return page('Permissions', [permissionRules(), ...sections, operator], '`tests/permissions/table.ts`');
}

function permissionRules(): string {
  return `Who may do what, and what everybody else is told. Every operation is tested with everyone in this table.

- **✓** it is done.
- **own** it is done, with nothing but what is yours or your own organization’s.
- **401** no credentials, or none that count now: an expired key, a revoked one with all the keys that it made, whatever a removed member had.
- **403** you may know it and not do it.
- **404** you may not know that it exists: whatever is another organization’s, and what is one member’s alone. It is the answer for what is not there.

An API key acts as the member who made it, capped to its own role: the key of an admin that has the role \`member\`, and the key of an admin
who is none any more, are member keys. Changing one’s password takes a login. Where it says *Scale plan*, every member of an organization on
another plan gets \`403 scale_plan_required\`, whatever else holds.

*Other organization* is an admin there, also one who owns the thing here as a member of both; a member there gets 403 where only admins may. *Owner* is the member who made the thing, or whose key or
inbox it is. *Editor* is the document’s assigned editor: for all that is no document, a member.`;
}

function settingsPage(): string {
  const section = (title: string, shape: z.ZodObject) => {
    const schema = z.toJSONSchema(shape, { io: 'input', unrepresentable: 'any' });
    const rows = Object.entries(schema.properties ?? {}).map(([name, of]) => {
      const { description, enum: choices } = typeof of === 'object' ? of : {};
      const sentences = [description, choices && `One of ${choices.join(', ')}`].filter(Boolean);
      return [`\`${name}\``, usualValue(shape.shape[name]), sentences.join('. ')];
    });
    return rows.length === 0 ? [] : [`## ${title}\n\n${table(['name', 'default', 'meaning'], rows)}`];
  };
  const own = services.flatMap(({ contract, settings }) => section(contract.title, settings));
  const local =
    'A local run (`npm start` without `MONGODB_URI`) also reads `DATA_DIR` (default `.data`) and `APP_URL`, makes its secrets once and keeps them there, and sets `DEFAULT_PLAN=scale`, `WEBHOOK_ALLOW_INSECURE_TARGETS=true` and `REQUESTS_PER_MINUTE=0` unless told otherwise. With `MONGODB_URI` everything is explicit.';
  return page('Settings', [
    'All settings are environment variables; a start lists every mistake at once.',
    local,
    ...section('Every process', commonSettings),
    ...own,
  ]);
}

/** What a setting is when nothing is said. */
function usualValue(setting: z.ZodType): string {
  const { success, data } = setting.safeParse(undefined);
  if (!success) return 'required';
  return data === undefined || (Array.isArray(data) && data.length === 0) ? 'unset' : `\`${data}\``;
}

function routeOf({ at, path, method }: AnyOperation): string {
  return `\`${method.toUpperCase()} ${at === 'root' ? path : about.apiPrefix + path}\``;
}

function list(names: readonly string[]): string {
  return names.map((name) => `\`${name}\``).join(', ') || '–';
}

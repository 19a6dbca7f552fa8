/** Tests that every name in the runbook exists exactly as written, because an operator copies it. */
import { globSync, readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { toTopology } from '#libs/events';
import { commonSettings } from '#libs/service';
import { apiPrefix, contracts } from '../../services/contracts.ts';
import { getLabelValues, getMetrics } from '../../services/metrics.ts';
import { services } from '../../services/services.ts';
import { invariants } from '../../tools/admin/verify/invariants.ts';

const root = new URL('../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');
// the tests of alerts use its Prometheus configuration unchanged
const runbook = read('docs/runbook.md').replaceAll(/^```yaml\n.*?^```$/gms, '');
/** All distinct matches on the page. */
const findAll = (pattern: RegExp) => [
  ...new Set([...runbook.matchAll(pattern)].map(([all, group]) => group ?? all)),
];

test('metrics, label values and log fields of the runbook exist', () => {
  const { ofProcess, ofEachService, own } = getMetrics();
  const metrics = [...ofProcess, ...ofEachService, ...own.flatMap((one) => one.metrics)];
  const values = metrics.flatMap(({ labels }) => Object.values(labels).flatMap(getLabelValues));
  const fields = [...read('docs/observability.md').matchAll(/`([a-z_]+)`/g)].map(([, field]) => field);
  const inBodies = ['config_id', 'encryption_key'];
  const externalNames =
    /^(process_documents|secs_running|list_queues|check_if_node_is_quorum_critical|node_filesystem_.*|kubelet_volume_stats_.*)$/;
  const names = findAll(/(?<![\w$])[a-z]+(?:_[a-z]+)+_?/g).filter((name) => !externalNames.test(name));
  expect(names.length).toBeGreaterThan(10);
  // collections and fields in the names of invariants
  const ofInvariants = invariants.flatMap(({ name }) => name.split('.'));
  const known = new Set<unknown>([
    ...metrics.map(({ name }) => name),
    ...values,
    ...fields,
    ...inBodies,
    ...ofInvariants,
  ]);
  // in the pattern of the first check, a name can be a prefix
  const begins = (name: string) =>
    runbook.includes(`|${name}`) && metrics.some((metric) => metric.name.startsWith(name));
  expect(names.filter((name) => !known.has(name) && !begins(name))).toEqual([]);
});

test('settings of the runbook exist', () => {
  const settings = [commonSettings, ...services.map((one) => one.settings)].flatMap(({ shape }) =>
    Object.keys(shape),
  );
  const shellVariables = findAll(/\$(?:\{)?([A-Z_]+)/g);
  const names = findAll(/(?<!\w)[A-Z]+(?:_[A-Z]+)+/g).filter((name) => !shellVariables.includes(name));
  expect(names).toContain('EXPORT_WORKER_MEMORY_MB');
  expect(names.filter((name) => !settings.includes(name))).toEqual([]);
});

test('programs that the runbook runs in a pod are in the image', () => {
  const ignored = read('.dockerignore').split('\n');
  expect(ignored).toContain('!tools/admin');
  const commands = findAll(/tools\/admin\/main\.ts ([a-z-]+)/g);
  expect(commands.length).toBeGreaterThan(2);
  for (const command of commands) {
    expect(read(`tools/admin/${command}.ts`)).not.toBe('');
    expect(ignored).not.toContain(`tools/admin/${command}.ts`);
  }
  const programs = findAll(/exec deploy\/\S+ -- (\S+)/g);
  expect(programs).toEqual(['/nodejs/bin/node']);
});

test('Kubernetes resources, labels and ports of the runbook exist', () => {
  const charts = globSync('charts/**/{values.yaml,*.tpl,templates/*.yaml}', { cwd: root })
    .map(read)
    .join('\n');
  const deployments = contracts.map(({ name }) => `pds-${name}`);
  const names = findAll(/(?:deploy\/|hpa |`)(pds-[a-z-]+)/g);
  expect(names.length).toBeGreaterThan(3);
  expect(names.filter((name) => !deployments.includes(name))).toEqual([]);
  expect(findAll(/for one in (.*); do/g)).toEqual([contracts.map(({ name }) => name).join(' ')]);

  const sets = new Set(
    ['mongodb', 'rabbitmq'].filter((one) => read(`k8s/${one}/${one}.yaml`).includes(`name: ${one}\n`)),
  );
  for (const set of findAll(/(?:pod\/|exec |logs )([a-z]+)-0/g)) expect(sets).toContain(set);
  for (const claim of findAll(/pvc (data-[a-z]+)-0/g))
    expect(read(`k8s/${claim.slice(5)}/${claim.slice(5)}.yaml`)).toContain('metadata: { name: data }');
  for (const secret of findAll(/secret (process-document-service-\w+)/g)) expect(charts).toContain(secret);
  for (const label of findAll(/(app\.kubernetes\.io\/[\w-]+)=/g)) expect(charts).toContain(label);
  expect(charts).toContain('9464');
});

test('queues of the runbook exist', () => {
  const queues = [...toTopology(contracts).keys()];
  const names = findAll(/`([\w-]+)\.(?:retry|dead)`/g);
  expect(names.length).toBeGreaterThan(0);
  expect(names.filter((name) => !queues.includes(name))).toEqual([]);
});

test('operations of the runbook exist', () => {
  const operations = contracts.flatMap((one) =>
    one.operations.map(({ method, path }) =>
      `${method.toUpperCase()} ${apiPrefix}${path}`.replaceAll(/\{\w+\}/g, '*'),
    ),
  );
  const requests = [...runbook.matchAll(/curl -s (?:-X (\w+) )?"\$BASE(\/[^"?]*)/g)].map(
    ([, method = 'GET', path = '']) => `${method} ${path.replaceAll(/\$\w+/g, '*')}`,
  );
  expect(requests.length).toBeGreaterThan(2);
  for (const one of requests) expect(operations).toContain(one);
});

test('dashboards and panels of the runbook exist', () => {
  const boards = globSync('charts/platform/dashboards/*.json', { cwd: root }).map((path) =>
    JSON.parse(read(path)),
  );
  const titles = boards.flatMap(({ title, panels }) => [
    title.replace('Process documents: ', ''),
    ...panels.map((panel: { title: string }) => panel.title),
  ]);
  const externalNames = ['Targets', 'Alarms', 'Events', 'Last State'];
  const pageTerms = ['Fast', 'slowly', 'First look'];
  const names = findAll(/(?<!\*)\*([^*\n]+)\*(?!\*)/g).flatMap((name) => name.split(' → '));
  expect(names.length).toBeGreaterThan(8);
  expect(names.filter((name) => ![...titles, ...externalNames, ...pageTerms].includes(name))).toEqual([]);
});

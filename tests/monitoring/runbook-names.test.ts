/** What the runbook names is there, by exactly that name: somebody who is woken copies it and does not guess. */
import { globSync, readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { toTopology } from '#libs/events';
import { commonSettings } from '#libs/service';
import { apiPrefix, contracts } from '../../services/contracts.ts';
import { getLabelValues, getMetrics } from '../../services/metrics.ts';
import { services } from '../../services/services.ts';

const root = new URL('../../', import.meta.url);
const read = (path: string) => readFileSync(new URL(path, root), 'utf8');
// the settings of Prometheus on it are used word for word by the tests of alerts
const runbook = read('docs/runbook.md').replaceAll(/^```yaml\n.*?^```$/gms, '');
/** Everything of a kind that the page names, once each. */
const named = (what: RegExp) => [...new Set([...runbook.matchAll(what)].map(([all, group]) => group ?? all))];

test('metrics, their values and fields of the log', () => {
  const { ofProcess, ofEachService, own } = getMetrics();
  const metrics = [...ofProcess, ...ofEachService, ...own.flatMap((one) => one.metrics)];
  const values = metrics.flatMap(({ labels }) => Object.values(labels).flatMap(getLabelValues));
  const fields = [...read('docs/observability.md').matchAll(/`([a-z_]+)`/g)].map(([, field]) => field);
  const inBodies = ['config_id', 'encryption_key'];
  const ofOthers =
    /^(process_documents|secs_running|list_queues|check_if_node_is_quorum_critical|node_filesystem_.*|kubelet_volume_stats_.*)$/;
  const names = named(/(?<![\w$])[a-z]+(?:_[a-z]+)+_?/g).filter((name) => !ofOthers.test(name));
  expect(names.length).toBeGreaterThan(10);
  const known = new Set<unknown>([...metrics.map(({ name }) => name), ...values, ...fields, ...inBodies]);
  // within the pattern of the first look it is the beginning of a name
  const begins = (name: string) =>
    runbook.includes(`|${name}`) && metrics.some((metric) => metric.name.startsWith(name));
  expect(names.filter((name) => !known.has(name) && !begins(name))).toEqual([]);
});

test('settings', () => {
  const settings = [commonSettings, ...services.map((one) => one.settings)].flatMap(({ shape }) =>
    Object.keys(shape),
  );
  const ofTheShell = named(/\$(?:\{)?([A-Z_]+)/g);
  const names = named(/(?<!\w)[A-Z]+(?:_[A-Z]+)+/g).filter((name) => !ofTheShell.includes(name));
  expect(names).toContain('EXPORT_WORKER_MEMORY_MB');
  expect(names.filter((name) => !settings.includes(name))).toEqual([]);
});

test('programs in a pod: they are in the image, which has no shell for them', () => {
  const ignored = read('.dockerignore').split('\n');
  const scripts = named(/scripts\/[\w-]+\.ts/g);
  expect(scripts.length).toBeGreaterThan(2);
  for (const script of scripts) {
    expect(read(script)).not.toBe('');
    expect(ignored).toContain(`!${script}`);
  }
  const programs = named(/exec deploy\/\S+ -- (\S+)/g);
  expect(programs).toEqual(['/nodejs/bin/node']);
});

test('deployments, sets, claims, secrets, labels and ports of the cluster', () => {
  const charts = globSync('charts/**/{values.yaml,*.tpl,templates/*.yaml}', { cwd: root })
    .map(read)
    .join('\n');
  const deployments = contracts.map(({ name }) => `pds-${name}`);
  const names = named(/(?:deploy\/|hpa |`)(pds-[a-z-]+)/g);
  expect(names.length).toBeGreaterThan(3);
  expect(names.filter((name) => !deployments.includes(name))).toEqual([]);
  expect(named(/for one in (.*); do/g)).toEqual([contracts.map(({ name }) => name).join(' ')]);

  const sets = new Set(
    ['mongodb', 'rabbitmq'].filter((one) => read(`k8s/${one}/${one}.yaml`).includes(`name: ${one}\n`)),
  );
  for (const set of named(/(?:pod\/|exec |logs )([a-z]+)-0/g)) expect(sets).toContain(set);
  for (const claim of named(/pvc (data-[a-z]+)-0/g))
    expect(read(`k8s/${claim.slice(5)}/${claim.slice(5)}.yaml`)).toContain('metadata: { name: data }');
  for (const secret of named(/secret (process-document-service-\w+)/g)) expect(charts).toContain(secret);
  for (const label of named(/(app\.kubernetes\.io\/[\w-]+)=/g)) expect(charts).toContain(label);
  expect(charts).toContain('9464');
});

test('queues', () => {
  const queues = [...toTopology(contracts).keys()];
  const names = named(/`([\w-]+)\.(?:retry|dead)`/g);
  expect(names.length).toBeGreaterThan(0);
  expect(names.filter((name) => !queues.includes(name))).toEqual([]);
});

test('operations', () => {
  const operations = contracts.flatMap((one) =>
    one.operations.map(({ method, path }) =>
      `${method.toUpperCase()} ${apiPrefix}${path}`.replaceAll(/\{\w+\}/g, '*'),
    ),
  );
  const asked = [...runbook.matchAll(/curl -s (?:-X (\w+) )?"\$BASE(\/[^"?]*)/g)].map(
    ([, method = 'GET', path = '']) => `${method} ${path.replaceAll(/\$\w+/g, '*')}`,
  );
  expect(asked.length).toBeGreaterThan(2);
  for (const one of asked) expect(operations).toContain(one);
});

test('dashboards and panels', () => {
  const boards = globSync('charts/platform/dashboards/*.json', { cwd: root }).map((path) =>
    JSON.parse(read(path)),
  );
  const titles = boards.flatMap(({ title, panels }) => [
    title.replace('Process documents: ', ''),
    ...panels.map((panel: { title: string }) => panel.title),
  ]);
  const ofOthers = ['Targets', 'Alarms', 'Events', 'Last State'];
  const ofThePage = ['Fast', 'slowly', 'First look'];
  const names = named(/(?<!\*)\*([^*\n]+)\*(?!\*)/g).flatMap((name) => name.split(' → '));
  expect(names.length).toBeGreaterThan(8);
  expect(names.filter((name) => ![...titles, ...ofOthers, ...ofThePage].includes(name))).toEqual([]);
});

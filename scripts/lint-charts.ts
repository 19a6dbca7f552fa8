/** Checks the charts (`npm run lint:charts`) for every case of values in charts/platform/ci: helm's lint, the schemas of Kubernetes, kube-score. */
import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { formatError } from '#libs/service';
import { ask, type Tool, toolPath } from './cluster/tools.ts';

const root = join(import.meta.dirname, '..');
const chart = join(root, 'charts', 'platform');
const kubernetes = '1.34.4';

/** What kube-score calls critical and is so on purpose. */
const answered: Readonly<Record<string, string>> = {
  'container-image-pull-policy':
    'an image is named by a version or a digest that never changes; asking the registry at each start would make starts depend on it',
  'container-cpu-limit':
    'a limit slows requests down while the node idles; what is asked for is what is guaranteed',
};

/** Where JSON schemas of Kubernetes lie, as kubeconform's -schema-location; `default` is the internet. */
const schemas = process.env.KUBERNETES_SCHEMAS ?? 'default';

try {
  const missing = await absent('helm', 'kubeconform', 'kube-score');
  if (missing.length > 0) {
    console.log(
      `NOT CHECKED: the charts, because there is no ${missing.join(', no ')} here (CLUSTER_TOOLS names a folder).`,
    );
  } else {
    const wrong = [];
    for (const file of globSync('ci/*-values.yaml', { cwd: chart }).sort())
      wrong.push(...(await faultsOf(file)));
    wrong.push(...(await unnoticed()));
    for (const one of wrong) console.error(`✗ ${one}`);
    process.exitCode = wrong.length === 0 ? 0 : 1;
  }
} catch (error) {
  console.error(formatError(error));
  process.exitCode = 1;
}

/** What is wrong with the chart, given these values. */
async function faultsOf(file: string): Promise<string[]> {
  const name = basename(file, '-values.yaml');
  const values = await readFile(join(chart, file), 'utf8');
  const lint = await ask(
    'helm',
    ['lint', '--strict', '--kube-version', kubernetes, chart, '--values', '-'],
    values,
  );
  if (lint.code !== 0) return [`${name}: helm lint\n${lint.out}${lint.err}`];
  const { code, out: objects, err } = await rendered(values);
  if (code !== 0) return [`${name}: helm template\n${err}`];
  const found = [await invalid(objects), await uncritical(objects)].filter((one) => one !== '');
  const count = objects.split(/^---$/m).length - 1;
  if (found.length === 0)
    console.log(`✓ ${name.padEnd(12)} ${count} objects, as Kubernetes ${kubernetes} wants them`);
  return found.map((one) => `${name}: ${one}`);
}

function rendered(values: string, ...more: string[]) {
  return ask(
    'helm',
    ['template', 'pds', chart, '--kube-version', kubernetes, '--values', '-', ...more],
    values,
  );
}

/** What kubeconform says against objects. Kinds of others (KEDA, Gateway API, Prometheus) it skips: their schemas come with them. */
async function invalid(objects: string): Promise<string> {
  const others = ['HTTPRoute', 'ScaledObject', 'PodMonitor', 'PrometheusRule'];
  const args = [
    '-strict',
    '-kubernetes-version',
    kubernetes,
    '-skip',
    others.join(','),
    '-schema-location',
    schemas,
  ];
  const { code, out, err } = await ask('kubeconform', args, objects);
  return code === 0 ? '' : `kubeconform\n${out}${err}`;
}

async function uncritical(objects: string): Promise<string> {
  const ignored = Object.keys(answered).flatMap((test) => ['--ignore-test', test]);
  const args = [
    'score',
    '--kubernetes-version',
    `v${kubernetes.replace(/\.\d+$/, '')}`,
    '--output-format',
    'ci',
  ];
  const { out } = await ask(
    'kube-score',
    [...args, ...ignored, '--ignore-container-cpu-limit', '-'],
    objects,
  );
  const critical = out.split('\n').filter((line) => line.startsWith('[CRITICAL]'));
  return critical.length === 0 ? '' : `kube-score\n${critical.join('\n')}`;
}

/** Mistakes that must be noticed; gives those that were not. */
async function unnoticed(): Promise<string[]> {
  const found = [];
  const misspelled = {
    'a setting': 'documents.env.DOCUMENT_CASH_MB=1',
    'a value': 'documents.replica=3',
    'an ingress': 'ingress.kind=traffic',
    'a number': 'documents.env.DOCUMENT_CACHE_MB=many',
  };
  for (const [what, value] of Object.entries(misspelled)) {
    const { code } = await rendered('{}', '--set', value);
    if (code === 0) found.push(`${what} that is wrong is taken: ${value}`);
  }
  const { out } = await rendered('{}');
  const planted = out.replace(/^( +)terminationGracePeriodSeconds:/m, '$1terminationGracePeriodSecond:');
  if ((await invalid(planted)) === '') found.push('a misspelled field of a Deployment is taken');
  const careless = out.replace(/^( +)readOnlyRootFilesystem: true$/gm, '$1readOnlyRootFilesystem: false');
  if ((await uncritical(careless)) === '') found.push('a root that can be written to is taken');
  if (found.length === 0) console.log(`✓ ${Object.keys(misspelled).length + 2} planted mistakes are noticed`);
  return found;
}

async function absent(...tools: Tool[]): Promise<Tool[]> {
  const there = await Promise.all(tools.map(async (tool) => ((await toolPath(tool)) ? [] : [tool])));
  return there.flat();
}

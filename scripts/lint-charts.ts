/**
 * Checks the charts (`npm run lint:charts`) with every values file in charts/platform/ci by helm lint, the
 * schemas of Kubernetes and kube-score.
 */
import { globSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { formatError } from '#libs/service';
import { findTool, runTool, type Tool } from './cluster/tools.ts';

const root = join(import.meta.dirname, '..');
const chart = join(root, 'charts', 'platform');
const kubernetes = '1.34.4';

/** Tests of kube-score that the chart fails on purpose, each with the reason. */
const ignoredTests: Readonly<Record<string, string>> = {
  'container-image-pull-policy':
    'the image of a version or digest never changes, and every start would depend on the registry',
  'container-cpu-limit':
    'a limit slows down requests while the node is idle; the requested CPU is guaranteed',
};

/**
 * Location of the JSON schemas of Kubernetes, for kubeconform's -schema-location. `default` is the internet.
 */
const schemas = process.env.KUBERNETES_SCHEMAS ?? 'default';

try {
  const missing = await findMissingTools('helm', 'kubeconform', 'kube-score');
  if (missing.length > 0) {
    console.log(
      `NOT CHECKED: the charts, because these tools were not found: ${missing.join(', ')}. You can set CLUSTER_TOOLS to their folder.`,
    );
  } else {
    const errors = [];
    for (const file of globSync('ci/*-values.yaml', { cwd: chart }).sort())
      errors.push(...(await lintWithValues(file)));
    errors.push(...(await checkDocumentedInstall()), ...(await checkPrecedence()));
    errors.push(...(await checkAllowedNetworks()), ...(await checkNodes()));
    errors.push(...(await checkRunbookLinks()));
    errors.push(...(await findUndetectedErrors()));
    for (const error of errors) console.error(`✗ ${error}`);
    process.exitCode = errors.length === 0 ? 0 : 1;
  }
} catch (error) {
  console.error(formatError(error));
  process.exitCode = 1;
}

/** Returns the errors of the chart with a values file. */
async function lintWithValues(file: string): Promise<string[]> {
  const name = basename(file, '-values.yaml');
  const values = await readFile(join(chart, file), 'utf8');
  const lint = await runTool(
    'helm',
    ['lint', '--strict', '--kube-version', kubernetes, chart, '--values', '-'],
    values,
  );
  if (lint.code !== 0) return [`${name}: helm lint\n${lint.out}${lint.err}`];
  const { code, out: objects, err } = await renderChart(values);
  if (code !== 0) return [`${name}: helm template\n${err}`];
  const found = [await validateSchemas(objects), await findCriticalIssues(objects)].filter(
    (text) => text !== '',
  );
  const count = objects.split(/^---$/m).length - 1;
  if (found.length === 0)
    console.log(`✓ ${name.padEnd(12)} ${count} objects are valid for Kubernetes ${kubernetes}`);
  return found.map((text) => `${name}: ${text}`);
}

function renderChart(values: string, ...more: string[]) {
  return runTool(
    'helm',
    ['template', 'pds', chart, '--kube-version', kubernetes, '--values', '-', ...more],
    values,
  );
}

/**
 * Returns the errors of kubeconform. It skips third-party kinds (KEDA, Gateway API, Prometheus) without
 * schemas.
 */
async function validateSchemas(objects: string): Promise<string> {
  const skippedKinds = ['HTTPRoute', 'ScaledObject', 'PodMonitor', 'PrometheusRule'];
  const args = [
    '-strict',
    '-kubernetes-version',
    kubernetes,
    '-skip',
    skippedKinds.join(','),
    '-schema-location',
    schemas,
  ];
  const { code, out, err } = await runTool('kubeconform', args, objects);
  return code === 0 ? '' : `kubeconform\n${out}${err}`;
}

async function findCriticalIssues(objects: string): Promise<string> {
  const ignored = Object.keys(ignoredTests).flatMap((test) => ['--ignore-test', test]);
  const args = [
    'score',
    '--kubernetes-version',
    `v${kubernetes.replace(/\.\d+$/, '')}`,
    '--output-format',
    'ci',
  ];
  const { out } = await runTool(
    'kube-score',
    [...args, ...ignored, '--ignore-container-cpu-limit', '-'],
    objects,
  );
  const critical = out.split('\n').filter((line) => line.startsWith('[CRITICAL]'));
  return critical.length === 0 ? '' : `kube-score\n${critical.join('\n')}`;
}

/** Returns an error if the install command of docs/kubernetes.md does not render what the default example renders. */
async function checkDocumentedInstall(): Promise<string[]> {
  const page = await readFile(join(root, 'docs', 'kubernetes.md'), 'utf8');
  const [command = ''] = /^helm .*install pds charts\/platform(?:.*\\\n)+.*$/m.exec(page) ?? [];
  const values = [...command.matchAll(/--set (?:'([^']+)'|(\S+))/g)].map(
    ([, quoted, plain]) => quoted ?? plain ?? '',
  );
  const documented = await renderChart('', ...values.flatMap((value) => ['--set', value]));
  const example = await renderChart(await readFile(join(chart, 'ci', 'default-values.yaml'), 'utf8'));
  if (documented.code !== 0 || documented.out !== example.out)
    return [
      `docs/kubernetes.md: the install command does not give what ci/default-values.yaml gives\n${documented.err}`,
    ];
  console.log(`✓ the install command of docs/kubernetes.md, with ${values.length} values`);
  return [];
}

/** Returns an error if a setting of a service does not replace the global one, also if it is empty or false. */
async function checkPrecedence(): Promise<string[]> {
  const values = await readFile(join(chart, 'ci', 'default-values.yaml'), 'utf8');
  const env = {
    RATE_LIMIT_PER_MINUTE: [12_000, 0],
    METRICS_ENABLED: [true, false],
    AMQP_PREFIX: ['all', ''],
  };
  const given = Object.entries(env).flatMap(([name, [global, own]]) => [
    ...['--set', `global.env.${name}=${global}`],
    ...['--set', `documents.env.${name}=${own}`],
  ]);
  const removed = ['--set', 'global.env.LOG_LEVEL=debug', '--set', 'documents.env.LOG_LEVEL=null'];
  const { out, err } = await renderChart(values, ...given, ...removed);
  const deployment = out
    .split(/^---$/m)
    .find((object) => /kind: Deployment.*name: pds-documents$/ms.test(object));
  const found = Object.entries(env).filter(
    ([name, [, own]]) => !deployment?.includes(`{ name: ${name}, value: "${own}" }`),
  );
  if (found.length > 0)
    return [
      `the settings of a service do not replace the global ones: ${found.map(([name]) => name)}\n${err}`,
    ];
  if (deployment?.includes('name: LOG_LEVEL'))
    return ['null does not remove a global setting from a service'];
  console.log('✓ the settings of a service replace the global ones');
  return [];
}

/** Returns an error if a service other than webhook-delivery may reach the networks of webhook receivers. */
async function checkAllowedNetworks(): Promise<string[]> {
  const values = await readFile(join(chart, 'ci', 'default-values.yaml'), 'utf8');
  const { out } = await renderChart(values, '--set', 'global.env.WEBHOOK_ALLOWED_CIDRS=10.9.0.0/16');
  const policies = out.split(/^---$/m).filter((object) => object.includes('\nkind: NetworkPolicy\n'));
  const open = policies.filter((policy) => policy.includes('cidr: "10.9.0.0/16"'));
  const names = open.map((policy) => /^ {2}name: (\S+)$/m.exec(policy)?.[1]);
  if (names.join() !== 'pds-webhook-delivery') return [`these reach the networks of receivers: ${names}`];
  console.log('✓ only webhook-delivery reaches the networks of WEBHOOK_ALLOWED_CIDRS');
  return [];
}

/** Returns an error if a pod does not run on the nodes for all pods, or a service replaces them with its own. */
async function checkNodes(): Promise<string[]> {
  const values = await readFile(join(chart, 'ci', 'strict-values.yaml'), 'utf8');
  const { out } = await renderChart(values, '--set', 'databaseSetup.enabled=true');
  const pods = out.split(/^---$/m).filter((object) => /^kind: (Deployment|Job|Pod)$/m.test(object));
  const isRight = (pod: string) => /^ +node-pool: apps$/m.test(pod) && /^ +key: node-pool$/m.test(pod);
  const own = pods.filter((pod) => /kubernetes\.io\/arch: amd64$|key: dedicated$/m.test(pod));
  if (pods.length !== 7 || !pods.every(isRight) || own.length !== 2)
    return [
      `${pods.filter(isRight).length} of ${pods.length} pods run on the nodes for all pods, expected 7`,
    ];
  console.log('✓ all pods run on the nodes for all pods, and services add their own');
  return [];
}

/** Returns an error if an alert does not link to the runbook of the operators. */
async function checkRunbookLinks(): Promise<string[]> {
  const values = await readFile(join(chart, 'ci', 'monitoring-values.yaml'), 'utf8');
  const { out } = await renderChart(values);
  const alerts = out.match(/^ +- alert: |^ +alert: /gm) ?? [];
  const links = out.match(/ runbook_url: https:\/\/wiki\.example\.com\/runbook#\w+$/gm) ?? [];
  if (alerts.length === 0 || links.length !== alerts.length)
    return [`${links.length} of ${alerts.length} alerts link to the runbook`];
  console.log(`✓ all ${alerts.length} alerts link to the runbook`);
  return [];
}

/** Introduces errors that the checks must detect. Returns the undetected ones. */
async function findUndetectedErrors(): Promise<string[]> {
  const found = [];
  const values = await readFile(join(chart, 'ci', 'default-values.yaml'), 'utf8');
  const wrongValues = {
    'a setting': 'documents.env.DOCUMENT_CASH_MB=1',
    'a value': 'documents.replica=3',
    'a service that cannot be left out': 'documents.enabled=false',
    'an ingress': 'ingress.kind=traffic',
    'a number': 'documents.env.DOCUMENT_CACHE_MB=many',
    'no network of the ingress': 'global.ingress.cidrs=null',
    'every network as that of the ingress': 'global.ingress.cidrs={0.0.0.0/0}',
    'trusted proxies beside that network': 'documents.env.TRUSTED_PROXIES=10.0.0.0/8',
  };
  for (const [kind, value] of Object.entries(wrongValues)) {
    const { code } = await renderChart(values, '--set', value);
    if (code === 0) found.push(`a wrong value is accepted (${kind}): ${value}`);
  }
  const { out } = await renderChart(values);
  const misspelledField = out.replace(
    /^( +)terminationGracePeriodSeconds:/m,
    '$1terminationGracePeriodSecond:',
  );
  if ((await validateSchemas(misspelledField)) === '')
    found.push('a misspelled field of a Deployment is accepted');
  const writableRoot = out.replace(/^( +)readOnlyRootFilesystem: true$/gm, '$1readOnlyRootFilesystem: false');
  if ((await findCriticalIssues(writableRoot)) === '') found.push('a writable root filesystem is accepted');
  if (found.length === 0)
    console.log(`✓ ${Object.keys(wrongValues).length + 2} introduced errors are detected`);
  return found;
}

async function findMissingTools(...tools: Tool[]): Promise<Tool[]> {
  const missing = await Promise.all(tools.map(async (tool) => ((await findTool(tool)) ? [] : [tool])));
  return missing.flat();
}

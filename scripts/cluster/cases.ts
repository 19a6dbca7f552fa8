/** The chart before a real API server, for every case of values in charts/platform/ci: it knows more than schemas do. */
import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { basename, join } from 'node:path';
import { ask, type Cluster, type Said, tell } from './tools.ts';

const chart = join(import.meta.dirname, '..', '..', 'charts', 'platform');

/** Kinds of others, which a cluster knows once their operators are there, by their resource definitions. */
const others: Readonly<Record<string, string>> = {
  HTTPRoute: 'httproutes.gateway.networking.k8s.io',
  ScaledObject: 'scaledobjects.keda.sh',
  PodMonitor: 'podmonitors.monitoring.coreos.com',
  PrometheusRule: 'prometheusrules.monitoring.coreos.com',
};

/** Mistakes that the API server must notice, in what the chart gives by default. */
const planted: Readonly<Record<string, readonly [RegExp, string]>> = {
  'a misspelled field': [/^( +)terminationGracePeriodSeconds:/m, '$1terminationGracePeriodSecond:'],
  'fewer at most than at least': [/maxReplicas: 10/, 'maxReplicas: 1'],
  'a kind of path that is not': [/pathType: Prefix/, 'pathType: Begin'],
  'a pattern that is no path': [/path: \/api\/v1\/documents\/\[/, 'path: ^/api/v1/documents/['],
};

/** Asks the API server for everything and changes nothing; rejects with what it refuses, or takes and should not. */
export async function tried(cluster: Cluster): Promise<string> {
  const known = new Set(
    (await cluster.list('customresourcedefinitions')).map(({ metadata }) => metadata.name),
  );
  const unknown = Object.keys(others).filter((kind) => !known.has(others[kind]));
  const cases = globSync(join(chart, 'ci', '*-values.yaml')).sort();
  let count = 0;
  for (const file of cases) {
    const objects = (await rendered(cluster, file)).filter(
      (one) => !unknown.some((kind) => one.includes(`\nkind: ${kind}\n`)),
    );
    count += objects.length;
    const { code, err } = await dryRun(cluster, objects.join('---\n'));
    assert.equal(code, 0, `${basename(file)}: ${err}`);
  }
  const usual = (await rendered(cluster, join(chart, 'ci', 'usual-values.yaml'))).join('---\n');
  for (const [what, [from, to]] of Object.entries(planted)) {
    assert.match(usual, from, `the chart no longer has the place for ${what}`);
    const { code } = await dryRun(cluster, usual.replace(from, to));
    assert.notEqual(code, 0, `${what} is taken`);
  }
  const without = unknown.length > 0 ? `, without ${unknown.join(', ')}, which it does not know` : '';
  return `${count} objects of ${cases.length} cases${without}; ${Object.keys(planted).length} planted mistakes refused`;
}

async function rendered(cluster: Cluster, values: string): Promise<string[]> {
  const args = ['template', 'pds', chart, '--namespace', cluster.namespace, '--values', values];
  const { serverVersion } = JSON.parse(await tell('kubectl', ['version', '--output', 'json']));
  const text = await tell('helm', [...args, '--kube-version', serverVersion.gitVersion]);
  return text.split(/^---\n/m).filter((one) => one.includes('kind:'));
}

function dryRun({ namespace }: Cluster, objects: string): Promise<Said> {
  const args = ['apply', '--server-side', '--dry-run=server', '--validate=strict', '--filename', '-'];
  return ask('kubectl', ['--namespace', namespace, ...args], objects);
}

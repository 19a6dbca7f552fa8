/**
 * Validates the chart with a real API server, for every values file in charts/platform/ci. It checks more
 * than schemas.
 */
import assert from 'node:assert/strict';
import { globSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type Cluster, type CommandResult, runTool, runToolOrThrow } from './tools.ts';

const chart = join(import.meta.dirname, '..', '..', 'charts', 'platform');

/** Kinds of third-party operators with their resource definitions. A cluster may not have them. */
const optionalKinds: Readonly<Record<string, string>> = {
  HTTPRoute: 'httproutes.gateway.networking.k8s.io',
  ScaledObject: 'scaledobjects.keda.sh',
  PodMonitor: 'podmonitors.monitoring.coreos.com',
  PrometheusRule: 'prometheusrules.monitoring.coreos.com',
};

/** Invalid changes of the chart's default output that the API server must reject. */
const invalidChanges: Readonly<Record<string, readonly [RegExp, string]>> = {
  'a misspelled field': [/^( +)terminationGracePeriodSeconds:/m, '$1terminationGracePeriodSecond:'],
  'a maximum below the minimum': [/maxReplicas: 10/, 'maxReplicas: 1'],
  'an unknown path type': [/pathType: Prefix/, 'pathType: Begin'],
  'a pattern that is not a path': [/path: \/api\/v1\/documents\/\[/, 'path: ^/api/v1/documents/['],
};

/**
 * Sends all objects to the API server as a dry run. Rejects if it rejects an object or accepts an invalid
 * change. Returns a summary.
 */
export async function dryRunCases(cluster: Cluster): Promise<string> {
  const definitions = new Set(
    (await cluster.list('customresourcedefinitions')).map(({ metadata }) => metadata.name),
  );
  const skippedKinds = Object.keys(optionalKinds).filter((kind) => !definitions.has(optionalKinds[kind]));
  const cases = globSync(join(chart, 'ci', '*-values.yaml')).sort();
  let count = 0;
  for (const file of cases) {
    const objects = (await renderObjects(cluster, file)).filter(
      (object) => !skippedKinds.some((kind) => object.includes(`\nkind: ${kind}\n`)),
    );
    count += objects.length;
    const { code, err } = await dryRun(cluster, objects.join('---\n'));
    assert.equal(code, 0, `${basename(file)}: ${err}`);
  }
  const defaultObjects = (await renderObjects(cluster, join(chart, 'ci', 'default-values.yaml'))).join(
    '---\n',
  );
  for (const [description, [from, to]] of Object.entries(invalidChanges)) {
    assert.match(
      defaultObjects,
      from,
      `the chart's output no longer contains the field for "${description}"`,
    );
    const { code } = await dryRun(cluster, defaultObjects.replace(from, to));
    assert.notEqual(code, 0, `the API server accepts ${description}`);
  }
  const skippedText =
    skippedKinds.length > 0 ? `, without ${skippedKinds.join(', ')}, which the cluster does not know` : '';
  return `${count} objects of ${cases.length} cases${skippedText}; ${Object.keys(invalidChanges).length} invalid changes rejected`;
}

async function renderObjects(cluster: Cluster, values: string): Promise<string[]> {
  const args = ['template', 'pds', chart, '--namespace', cluster.namespace, '--values', values];
  const { serverVersion } = JSON.parse(await runToolOrThrow('kubectl', ['version', '--output', 'json']));
  const text = await runToolOrThrow('helm', [...args, '--kube-version', serverVersion.gitVersion]);
  return text.split(/^---\n/m).filter((object) => object.includes('kind:'));
}

function dryRun({ namespace }: Cluster, objects: string): Promise<CommandResult> {
  const args = ['apply', '--server-side', '--dry-run=server', '--validate=strict', '--filename', '-'];
  return runTool('kubectl', ['--namespace', namespace, ...args], objects);
}

/** Checks the sums of resources in docs/kubernetes.md against the values of the charts. */
import { readFileSync } from 'node:fs';
import { expect, test } from '@jest/globals';
import { readChartResources } from '../scripts/chart-resources.ts';
import { contracts } from '../services/contracts.ts';

const pods = contracts.map(({ name }) => ({ name, count: 2, ...readChartResources(name) }));

/** The sum of all pods, with one decimal place. */
function sum(all: readonly (typeof pods)[number][], field: 'cpu' | 'memory' | 'memoryLimit'): string {
  return all
    .reduce((total, pod) => total + pod.count * pod[field], 0)
    .toFixed(1)
    .replace('.0', '');
}

test('the page about Kubernetes has the sums of the resources of the chart', () => {
  const page = readFileSync(new URL('../docs/kubernetes.md', import.meta.url), 'utf8');
  const withLogins = pods.map((pod) => (pod.name === 'identity' ? { ...pod, cpu: 1 } : pod));
  expect(page).toContain(`| 10 | 2 | ${sum(pods, 'cpu')} CPU, ${sum(pods, 'memory')} GiB |`);
  expect(page).toContain(`| ${sum(withLogins, 'cpu')} CPU, ${sum(withLogins, 'memory')} GiB |`);
  expect(page).toContain(`The limits of memory are ${sum(pods, 'memoryLimit')} GiB in total`);
});

/** Checks compose.yaml and the Caddyfile of its ingress against the contracts. */
import { readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { parse } from 'yaml';
import { readChartResources } from '../scripts/chart-resources.ts';
import { apiPrefix, contracts } from '../services/contracts.ts';

interface ComposeFile {
  services: Record<string, { mem_limit?: string; logging?: unknown }>;
}

const read = (path: string) => readFile(new URL(`../${path}`, import.meta.url), 'utf8');

/** Memory limits of the services that need more than the others. */
const memoryLimits: Readonly<Record<string, string>> = { documents: '1792m', export: '1280m' };

test('compose.yaml runs every service with its own secrets', async () => {
  const compose = await read('compose.yaml');
  for (const { name } of contracts) {
    const [, service = ''] = new RegExp(`^  ${name}:\\n((?: {4}.*\\n)+)`, 'm').exec(compose) ?? [];
    expect([name, service.trim().split(/\n */)]).toEqual([
      name,
      [
        '<<: *service',
        ...(name in memoryLimits ? [`mem_limit: ${memoryLimits[name]}`] : []),
        `command: [--env-file=/secrets/settings.env, services/${name}/main.ts]`,
        `volumes: ['${name}-secrets:/secrets:ro']`,
      ],
    ]);
    expect(compose).toContain(`- ${name}-secrets:/secrets/${name}\n`);
  }
  expect(compose).toContain(
    `depends_on: [${contracts
      .map(({ name }) => name)
      .toSorted()
      .join(', ')}]`,
  );
});

test('the containers have the memory limits of the chart', async () => {
  const compose: ComposeFile = parse(await read('compose.yaml'), { merge: true });
  for (const { name } of contracts) {
    const megabytes = readChartResources(name).memoryLimit * 1_024;
    expect([name, compose.services[name]?.mem_limit]).toEqual([name, `${megabytes}m`]);
  }
});

test('the logs of all containers are rotated', async () => {
  const compose: ComposeFile = parse(await read('compose.yaml'), { merge: true });
  const logging = { driver: 'json-file', options: { 'max-size': '20m', 'max-file': '5' } };
  for (const [name, service] of Object.entries(compose.services))
    expect([name, service.logging]).toEqual([name, logging]);
});

test('compose.yaml has the images of the development cluster', async () => {
  const compose = await read('compose.yaml');
  for (const name of ['mongodb', 'rabbitmq']) {
    const [image] = /image: (mongo|rabbitmq):\S+/.exec(await read(`k8s/${name}/${name}.yaml`)) ?? [''];
    expect(image).not.toBe('');
    expect(compose).toContain(`${image}\n`);
  }
});

test('the Caddyfile routes every operation to its service', async () => {
  const caddyfile = await read('compose/Caddyfile');
  const blocks = [
    ...caddyfile.matchAll(/@route\d+ (path|path_regexp) (.+)\n.+\n\s+reverse_proxy ([a-z-]+):8080/g),
  ];
  const routes = blocks.map(([, kind, paths = '', service]) => {
    const pattern = paths.split(' ').map((path) => `^${path.replaceAll('.', '\\.').replace(/\*$/, '.*')}$`);
    return { service, pattern: new RegExp(kind === 'path' ? pattern.join('|') : paths) };
  });
  const wrong = contracts.flatMap(({ name, operations }) =>
    operations
      .map(({ at, path }) => (at === 'root' ? path : apiPrefix + path).replaceAll(/\{\w+\}/g, 'x'))
      .filter((path) => routes.find(({ pattern }) => pattern.test(path))?.service !== name),
  );
  expect(wrong).toEqual([]);
  expect(routes.some(({ pattern }) => pattern.test('/metrics') || pattern.test('/ops/organizations'))).toBe(
    false,
  );
});

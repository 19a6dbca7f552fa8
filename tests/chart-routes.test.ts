/** Checks that the chart's ingress routes every operation of every contract to the service that implements it. */
import { readFile } from 'node:fs/promises';
import { expect, test } from '@jest/globals';
import { apiPrefix, contracts } from '../services/contracts.ts';

interface Route {
  path: string;
  service: string;
}

const routes: { exact: Route[]; prefixes: Route[]; patterns: Route[] } = JSON.parse(
  await readFile(new URL('../charts/platform/files/routes.json', import.meta.url), 'utf8'),
);

const operations = contracts.flatMap(({ name, operations: own }) =>
  own.map(({ method, path, at }) => ({
    service: name,
    route: `${method.toUpperCase()} ${path}`,
    path: (at === 'root' ? path : apiPrefix + path).replaceAll(
      /\{\w+\}/g,
      '0197f0de-0000-7000-8000-000000000000',
    ),
  })),
);

/**
 * The service that an ingress controller routes a path to: an exact path wins over a pattern, a pattern over the
 * longest prefix. Controllers compare prefixes by segment or by character.
 */
function findService(path: string, isBySegment: boolean): string | undefined {
  const exact = routes.exact.find((one) => one.path === path);
  const pattern = routes.patterns.find((one) => new RegExp(`^${one.path}$`).test(path));
  const prefixes = routes.prefixes.filter((one) =>
    isBySegment ? `${path}/`.startsWith(`${one.path}/`) : path.startsWith(one.path),
  );
  const [longest] = prefixes.sort((a, b) => b.path.length - a.path.length);
  return (exact ?? pattern ?? longest)?.service;
}

test.each([
  { how: 'by segment', isBySegment: true },
  { how: 'by character', isBySegment: false },
])('the ingress routes every operation to its service, prefixes $how', ({ isBySegment }) => {
  const wrong = operations.filter(({ service, path }) => findService(path, isBySegment) !== service);
  expect(wrong.map(({ route }) => route)).toEqual([]);
  expect(operations.length).toBeGreaterThan(50);
});

test('the ingress routes only the root paths to the start page', () => {
  for (const path of ['/', apiPrefix]) expect([path, findService(path, false)]).toEqual([path, 'identity']);
  for (const path of ['/nowhere', '/api', '/api/v2', `${apiPrefix}/nowhere`, '/favicon.ico'])
    expect([path, findService(path, false)]).toEqual([path, undefined]);
});

test('the ingress ignores the method, so preflight requests pass', async () => {
  const template = await readFile(
    new URL('../charts/platform/templates/ingress.yaml', import.meta.url),
    'utf8',
  );
  expect(template).not.toMatch(/\bmethods?\b/i);
});

test('the ingress does not route paths of the management port', () => {
  const adminPaths = contracts.flatMap((one) => one.adminOperations ?? []).map(({ path }) => path);
  // by character, `/read` also matches `/readyz`: on the public port of sharing, which has no such path
  for (const path of ['/healthz', '/metrics', ...adminPaths])
    expect([path, findService(path, false)]).toEqual([path, undefined]);
  expect(findService('/readyz', true)).toBeUndefined();
});

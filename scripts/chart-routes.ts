/** Generates the routes of the chart's ingress from the contracts. */
import type { AnyOperation, Contract } from '#libs/contract';

/**
 * Maps the paths of all operations to services. The roots of the application and of the API match exactly,
 * because a prefix would match everything. Other paths match by their first segment as a prefix. If several
 * services share a segment, the service with the shortest path gets the prefix, and the others get patterns.
 * Patterns take precedence over prefixes.
 */
export function ingressRoutes(contracts: readonly Contract[], apiPrefix: string) {
  const all = contracts.flatMap(({ name, operations }) =>
    operations.map((operation) => ({ path: fullPath(operation, apiPrefix), service: name })),
  );
  const isRoot = ({ path }: { path: string }) => path === '/' || path === apiPrefix;
  const routes = all.filter((route) => !isRoot(route));
  const segments = Map.groupBy(routes, ({ path }) => firstSegment(path, apiPrefix));
  const prefixes = [];
  const patterns = [];
  for (const [part, segmentRoutes] of segments) {
    // the service with the shortest path owns the segment
    const [first] = segmentRoutes.toSorted((a, b) => a.path.length - b.path.length);
    prefixes.push({ path: part, service: first?.service ?? '' });
    const others = segmentRoutes.filter(({ service }) => service !== first?.service);
    patterns.push(...others.map(({ service, path }) => ({ path: toPattern(path), service })));
  }
  const unique = new Map(patterns.map((route) => [route.path, route]));
  return { exact: all.filter(isRoot), prefixes, patterns: [...unique.values()] };
}

function fullPath({ path, at }: AnyOperation, apiPrefix: string): string {
  return at === 'root' ? path : apiPrefix + path;
}

/** Returns the first segment of the path, or the first one after the API prefix, including the prefix. */
function firstSegment(path: string, apiPrefix: string): string {
  const [, first = ''] = path.startsWith(apiPrefix)
    ? path.slice(apiPrefix.length).split('/')
    : path.split('/');
  return `${path.startsWith(apiPrefix) ? apiPrefix : ''}/${first}`;
}

function toPattern(path: string): string {
  return path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+');
}

/** Where each path of the API leads, for the ingress of the chart. */
import type { AnyOperation, Contract } from '#libs/contract';

/**
 * Where paths lead: the roots of the application and of the API by exact match, because a prefix would catch everything;
 * whole parts of the API by prefix; where services share a part, the smaller ones by pattern, which go first.
 */
export function ingressRoutes(contracts: readonly Contract[], apiPrefix: string) {
  const all = contracts.flatMap(({ name, operations }) =>
    operations.map((one) => ({ path: fullPath(one, apiPrefix), service: name })),
  );
  const isRoot = ({ path }: { path: string }) => path === '/' || path === apiPrefix;
  const routes = all.filter((one) => !isRoot(one));
  const parts = Map.groupBy(routes, ({ path }) => partOf(path, apiPrefix));
  const prefixes = [];
  const patterns = [];
  for (const [part, within] of parts) {
    // the part belongs to whom its shortest path belongs
    const [first] = within.toSorted((a, b) => a.path.length - b.path.length);
    prefixes.push({ path: part, service: first?.service ?? '' });
    const others = within.filter(({ service }) => service !== first?.service);
    patterns.push(...others.map(({ service, path }) => ({ path: patternOf(path), service })));
  }
  const unique = new Map(patterns.map((one) => [one.path, one]));
  return { exact: all.filter(isRoot), prefixes, patterns: [...unique.values()] };
}

function fullPath({ path, at }: AnyOperation, apiPrefix: string): string {
  return at === 'root' ? path : apiPrefix + path;
}

/** The first segment behind the prefix of the API, or of the whole. */
function partOf(path: string, apiPrefix: string): string {
  const [, first = ''] = path.startsWith(apiPrefix)
    ? path.slice(apiPrefix.length).split('/')
    : path.split('/');
  return `${path.startsWith(apiPrefix) ? apiPrefix : ''}/${first}`;
}

function patternOf(path: string): string {
  return path.replaceAll('.', '\\.').replaceAll(/\{\w+\}/g, '[^/]+');
}

/** Where each path of the API leads, for the ingress of the chart. */
import type { AnyOperation, Contract } from '#libs/contract';

/** Where paths lead: whole parts of the API by prefix; where services share a part, the smaller ones by pattern, which go first. */
export function ingressRoutes(contracts: readonly Contract[], apiPrefix: string) {
  const routes = contracts.flatMap(({ name, operations }) =>
    operations.map((one) => ({ service: name, path: fullPath(one, apiPrefix) })),
  );
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
  return { prefixes, patterns: [...unique.values()] };
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

/** The order of paths, and their methods: `/documents/counts` is not `/documents/{doc_id}` with the id `counts`. */
import type { AnyOperation } from '#libs/contract';

/** Converts an operation's path to the Express syntax. */
export function toExpressPath(operation: AnyOperation, apiPrefix: string): string {
  const path = operation.path.replaceAll(/\{(\w+)\}/g, ':$1');
  return operation.at === 'root' ? path : apiPrefix + path;
}

/**
 * Groups what belongs to the same path, in the Express syntax. Where two paths differ first, the one with a fixed
 * segment comes before the one with a parameter.
 */
export function groupByPath<T>(
  items: readonly T[],
  getPath: (item: T) => string,
): [path: string, items: T[]][] {
  const groups = [...Map.groupBy(items, getPath)].map(([path, group]) => ({
    path,
    group,
    rank: toRank(path),
  }));
  groups.sort((one, other) => (one.rank < other.rank ? -1 : Number(one.rank > other.rank)));
  return groups.map(({ path, group }) => [path, group]);
}

/** Returns the value of `Allow`: the methods that the operations of one path answer. */
export function toAllow(operations: readonly AnyOperation[]): string {
  const methods = operations.map(({ method }) => method.toUpperCase());
  if (methods.includes('GET')) methods.push('HEAD');
  if (operations.some(({ crossOrigin }) => crossOrigin)) methods.push('OPTIONS');
  return methods.join(', ');
}

/** Returns one digit per segment: 0 for a fixed one, 1 for a parameter. */
function toRank(path: string): string {
  return path
    .split('/')
    .map((segment) => (segment.startsWith(':') ? 1 : 0))
    .join('');
}

/** Finds the routes of a path for less time than the routers of Express need. */
import type { AnyOperation } from '#libs/contract';
import { groupByPath, toExpressPath } from './paths.ts';

/** What has an operation, such as a route. */
interface WithOperation {
  operation: AnyOperation;
}

/** Returns a function that finds the routes of a path, as Express does. Returns an empty list for an unknown path. */
export function createRouteFinder<T extends WithOperation>(
  routes: readonly T[],
  apiPrefix: string,
): (path: string) => readonly T[] {
  const groups = groupByPath(routes, ({ operation }) => toExpressPath(operation, apiPrefix));
  const paths = groups.map(([path, group]) => ({ segments: path.split('/'), group }));
  const byLength = Map.groupBy(paths, ({ segments }) => segments.length);
  return (path) => {
    const sent = path.split('/');
    const found = byLength
      .get(sent.length)
      ?.find(({ segments }) =>
        segments.every((segment, at) => (segment.startsWith(':') ? sent[at] !== '' : segment === sent[at])),
      );
    return found?.group ?? [];
  };
}

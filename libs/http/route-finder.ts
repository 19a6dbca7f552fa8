/** Finds the route of a request for less time than the routers of Express need. */
import type { AnyOperation } from '#libs/contract';
import { groupByPath, toExpressPath } from './paths.ts';

/** What has an operation, such as a route. */
interface WithOperation {
  operation: AnyOperation;
}

/**
 * Returns a function that finds the route for a method and a path. The path has no query, and its parameters are not
 * checked.
 */
export function createRouteFinder<T extends WithOperation>(
  routes: readonly T[],
  apiPrefix: string,
): (method: string, path: string) => T | undefined {
  const groups = groupByPath(routes, ({ operation }) => toExpressPath(operation, apiPrefix));
  const ordered = groups.flatMap(([path, group]) =>
    group.map((route) => ({ route, segments: path.split('/') })),
  );
  const toShape = (method: string, segments: readonly string[]) => `${method} ${segments.length}`;
  const byShape = Map.groupBy(ordered, ({ route, segments }) =>
    toShape(route.operation.method.toUpperCase(), segments),
  );
  return (method, path) => {
    const sent = path.split('/');
    const candidates = byShape.get(toShape(method === 'HEAD' ? 'GET' : method, sent));
    const found = candidates?.find(({ segments }) =>
      segments.every((segment, at) => (segment.startsWith(':') ? sent[at] !== '' : segment === sent[at])),
    );
    return found?.route;
  };
}

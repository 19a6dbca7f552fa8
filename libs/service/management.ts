/**
 * The application of the management port: health, metrics and admin operations. It must not be exposed
 * through the ingress.
 */
import type { RequestListener } from 'node:http';
import express from 'express';
import { application, type Route, type UnmatchedRequest } from '#libs/http';
import type { Metrics } from './metrics.ts';

/** Options of the management application. */
export interface ManagementOptions {
  /** Problems by component name. `reasons` make the process not ready; `degraded` only delays events. */
  health(): Promise<{ reasons: Record<string, string>; degraded: Record<string, string> }>;
  /** Renders all metrics. `undefined` if metrics are disabled. */
  metrics: Metrics['render'] | undefined;
  /** Routers of the admin operations. */
  routers: readonly express.RequestHandler[];
  routes: readonly Route[];
  /** Called for every request that matched no operation. */
  unmatched(request: UnmatchedRequest): void;
  onError(message: string, error: unknown): void;
}

/** Creates the application with `/healthz`, `/readyz`, `/metrics` and the admin operations. */
export function createManagementApp(options: ManagementOptions): RequestListener {
  const { routers, routes, unmatched, onError } = options;
  return application({
    routers: [createHealthRouter(options), ...routers],
    routes,
    apiPrefix: '',
    trustedProxies: [],
    unmatched,
    onError,
  });
}

function createHealthRouter({
  health,
  metrics,
}: Pick<ManagementOptions, 'health' | 'metrics'>): express.Router {
  const router = express.Router();
  router.get('/healthz', (_request, response) => {
    response.json({ status: 'alive' });
  });
  router.get('/readyz', async (_request, response) => {
    const { reasons, degraded } = await health();
    const isReady = Object.keys(reasons).length === 0;
    response.status(isReady ? 200 : 503).json({
      status: isReady ? 'ready' : 'not ready',
      ...(isReady ? {} : { reasons }),
      ...(Object.keys(degraded).length > 0 && { degraded }),
    });
  });
  if (metrics)
    router.get('/metrics', async (_request, response) => {
      const { type, text } = await metrics();
      response.type(type).send(text);
    });
  return router;
}

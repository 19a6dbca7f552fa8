/** The management port: health, metrics and what operators may do; never for the ingress. */
import express from 'express';
import type { AnyOperation } from '#libs/contract';
import { application, type UnmatchedRequest } from '#libs/http';
import type { Metrics } from './metrics.ts';

/** What the management port asks. */
export interface ManagementOptions {
  /**
   * What is wrong, by name: reasons not to be given requests, and what only delays what follows from them.
   */
  health(): Promise<{ reasons: Record<string, string>; degraded: Record<string, string> }>;
  /** All metrics as a page; absent where they are switched off. */
  metrics: Metrics['render'] | undefined;
  /** The routes of operators. */
  routers: readonly express.RequestHandler[];
  operations: readonly AnyOperation[];
  /** Called with each request that reached no operation. */
  unmatched(request: UnmatchedRequest): void;
  onError(what: string, error: unknown): void;
}

/**
 * The application behind the management port: `/healthz`, `/readyz`, `/metrics` and the routes of operators.
 */
export function createManagementServer(options: ManagementOptions): express.Express {
  const { routers, operations, unmatched, onError } = options;
  return application({
    routers: [createHealthRouter(options), ...routers],
    operations,
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

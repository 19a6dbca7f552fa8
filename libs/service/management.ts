/** The management port: health and metrics, for operators and never for the ingress. */
import express from 'express';
import type { Metrics } from './metrics.ts';

/** What the management port asks. */
export interface Health {
  /** What is not ready, by name with its reason; empty when all is well. */
  unready(): Promise<Record<string, string>>;
  metrics: Metrics;
}

/** The application behind the management port: `/healthz`, `/readyz`, `/metrics`. */
export function management({ unready, metrics }: Health): express.Express {
  const app = express().disable('x-powered-by').disable('etag');
  app.get('/healthz', (_request, response) => {
    response.json({ status: 'alive' });
  });
  app.get('/readyz', async (_request, response) => {
    const reasons = await unready();
    const ready = Object.keys(reasons).length === 0;
    response.status(ready ? 200 : 503).json(ready ? { status: 'ready' } : { status: 'not ready', reasons });
  });
  app.get('/metrics', async (_request, response) => {
    response.type(metrics.register.contentType).send(await metrics.register.metrics());
  });
  return app;
}

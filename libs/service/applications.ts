/** The two Express applications of a process: the public API and the management port. */
import type { IncomingHttpHeaders } from 'node:http';
import type { AnyOperation, Contract } from '#libs/contract';
import type { Bus } from '#libs/events';
import {
  application,
  type BodyReading,
  createAdmission,
  createRouter,
  type RequestOutcome,
  tokenBucket,
  type UnmatchedRequest,
} from '#libs/http';
import type { Store } from '#libs/store';
import { securityLog } from './audit.ts';
import { checkHealth } from './health.ts';
import type { Log } from './log.ts';
import { createManagementApp } from './management.ts';
import type { Metrics } from './metrics.ts';
import type { AnyService, ServiceHandlers } from './service.ts';
import type { CommonSettings } from './settings.ts';
import type { Tracing } from './tracing.ts';

/** What all services of a process share. */
export interface ProcessContext {
  contracts: readonly Contract[];
  apiPrefix: string;
  settings: CommonSettings;
  log: Log;
  now: () => Date;
  metrics: Metrics;
  tracing: Tracing;
  bus: Bus;
  bodies: BodyReading;
}

/** A service with its store and its handlers. */
export interface StartedService {
  service: AnyService;
  store: Store;
  handlers: ServiceHandlers;
}

/** Creates the public API of all services. */
export function createPublicApplication(context: ProcessContext, services: readonly StartedService[]) {
  const admission = createAdmission({ maxInProgress: context.settings.MAX_REQUESTS_IN_PROGRESS });
  const { settings, log, apiPrefix } = context;
  const { RATE_LIMIT_PER_MINUTE: perMinute, RATE_LIMIT_BURST: burst } = settings;
  const limit =
    perMinute > 0 ? tokenBucket({ perMinute, burst, now: () => context.now().getTime() }) : undefined;
  const logOverload = createOverloadLog(log);
  const onOverload = (operation: AnyOperation | undefined) => {
    const outcome = { status: 503, durationMs: 0, problem: 'unavailable' };
    if (operation) context.metrics.request({ operation: operation.id, ...outcome });
    else context.metrics.unmatched(outcome.status);
    logOverload();
  };
  return application({
    routers: services.map((service) =>
      createRouter({ ...toRouterDeps(context, service), ...service.handlers, apiPrefix, limit }),
    ),
    admission: { admission, onOverload },
    routes: services.flatMap(({ handlers }) => handlers.routes),
    apiPrefix,
    trustedProxies: settings.TRUSTED_PROXIES,
    unmatched: (request) => {
      context.metrics.unmatched(request.status);
      logUnmatched(log, request);
    },
    onError: (message, error) => log.error({ err: error }, message),
  });
}

/** Creates the application of the management port: health, metrics and the operations for operators. */
export function createManagementApplication(
  context: ProcessContext,
  services: readonly StartedService[],
  phase: () => 'starting' | 'draining' | undefined,
) {
  const admin = services.flatMap((service) =>
    service.handlers.adminHandlers ? [{ service, ...service.handlers.adminHandlers }] : [],
  );
  return createManagementApp({
    metrics: context.settings.METRICS_ENABLED ? context.metrics.render : undefined,
    health: () => checkHealth(context.bus, services, phase()),
    routers: admin.map(({ service, ...handlers }) =>
      createRouter({ ...toRouterDeps(context, service), ...handlers, apiPrefix: '', limit: undefined }),
    ),
    routes: admin.flatMap(({ routes }) => routes),
    unmatched: (request) => logUnmatched(context.log, request),
    onError: (message, error) => context.log.error({ err: error }, message),
  });
}

/**
 * Returns the function to call for each request that is rejected because the process is overloaded. It logs their
 * number once per second: a line for each would cost more than the rejection.
 */
function createOverloadLog(log: Log): () => void {
  let count = 0;
  const write = () => {
    log.warn({ requests: count }, 'The process is overloaded and rejected requests');
    count = 0;
  };
  return () => {
    count += 1;
    if (count === 1) setTimeout(write, 1_000).unref();
  };
}

/** Logs a request that matched no operation, so that a caller's typing error can be found. */
function logUnmatched(log: Log, { method, path, status, requestId }: UnmatchedRequest): void {
  log.info({ method, path, status, request_id: requestId }, 'No operation for this request');
}

/**
 * Returns the router options that are the same for public and admin routes: store, tracing, logs and metrics.
 */
function toRouterDeps(
  { settings, log, metrics, tracing, bodies }: ProcessContext,
  { service, store }: StartedService,
) {
  const writeAuditEvent = securityLog(log.child({ service: service.contract.name }));
  return {
    store,
    bodies,
    cursorKeyring: settings.ENCRYPTION_KEYS.derive('cursors'),
    span<R>(
      name: string,
      { traceparent }: IncomingHttpHeaders,
      arrivedAt: number,
      work: () => Promise<R>,
    ): Promise<R> {
      return tracing.withSpan({ name, kind: 'server', from: traceparent, arrivedAt }, work);
    },
    onOutcome({ principal, error, audit, ...outcome }: RequestOutcome) {
      metrics.request(outcome);
      const identity = {
        organization_id: principal?.organization_id,
        actor_id: principal?.user_id,
        key_id: principal?.key_id ?? undefined,
      };
      tracing.setAttributes(
        {
          'http.request.method': outcome.method.toUpperCase(),
          'http.response.status_code': outcome.status,
          'pds.service': service.contract.name,
          'pds.request_id': outcome.requestId,
          ...(principal && { 'pds.organization_id': principal.organization_id }),
          ...(outcome.problem !== undefined && { 'pds.problem': outcome.problem }),
        },
        error,
      );
      const line = {
        service: service.contract.name,
        operation: outcome.operation,
        method: outcome.method,
        status: outcome.status,
        problem: outcome.problem,
        error_paths: outcome.errorPaths,
        duration_ms: Math.round(outcome.durationMs * 10) / 10,
        request_id: outcome.requestId,
        ...identity,
        ...tracing.workStats(),
      };
      if (error === undefined) log.info(line, outcome.operation);
      else log.error({ ...line, err: error }, outcome.operation);
      if (audit)
        writeAuditEvent({
          actor_id: principal?.user_id ?? null,
          organization_id: principal?.organization_id ?? null,
          key_id: principal?.key_id ?? null,
          request_id: outcome.requestId,
          ...audit,
        });
    },
  };
}

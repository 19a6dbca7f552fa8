/**
 * Creates the Express router of a service. Each route authenticates, authorizes, parses, calls its handler
 * and sends the response.
 */
import express, { type Request, type Response } from 'express';
import {
  type AnyOperation,
  deprecationHeaders,
  getCacheControl,
  getProblems,
  type Problem,
  rateLimitHeaders,
  TooManyRequests,
} from '#libs/contract';
import type { RequestProgress } from './admission.ts';
import { isRejected, overloadProblem, takeProgress } from './admission-handler.ts';
import { type Authenticate, authenticateRequest } from './credentials.ts';
import type { AuditDetails, Principal, Route } from './handle.ts';
import { groupByPath, toAllow, toExpressPath } from './paths.ts';
import { answerPreflight } from './preflight.ts';
import { type BodyReading, parseRequest } from './request.ts';
import { createNotes, createRequestInfo, getRequestId } from './request-info.ts';
import { createResourceGuard } from './resource-guard.ts';
import { type RespondOptions, respond } from './respond.ts';
import { getErrorPaths, send, sendProblem, toProblem } from './responses.ts';
import type { TokenBucket } from './token-bucket.ts';

/** The outcome of a request, for logs and metrics. */
export interface RequestOutcome {
  operation: string;
  method: string;
  status: number;
  durationMs: number;
  requestId: string;
  principal: Principal | undefined;
  /** The code of the problem, if the request ended in one. */
  problem?: string;
  /** Paths of the errors of an invalid request (400), as in its `errors[].path`. Never the values. */
  errorPaths?: string[];
  /** The internal error, if there was one. */
  error?: unknown;
  /** The entry for the security log, if the operation has one. */
  audit?: { event: string; outcome: string; address: string; details: AuditDetails };
}

/** Options of a service's router. */
export interface RouterOptions extends RespondOptions {
  routes: readonly Route[];
  authenticate: Authenticate;
  /** The rate limit per principal, if there is one. */
  limit: TokenBucket | undefined;
  /** What all routers of the process share to read bodies. */
  bodies: BodyReading;
  /** Runs the handling of a request in a trace span, which begins at `arrivedAt`, a value of `performance.now()`. */
  span<R>(name: string, headers: Request['headers'], arrivedAt: number, work: () => Promise<R>): Promise<R>;
  onOutcome(outcome: RequestOutcome): void;
}

/** Creates a router with a route for each operation. */
export function createRouter(options: RouterOptions): express.RequestHandler {
  const router = () => express.Router({ caseSensitive: true, strict: true });
  const [api, root] = [router(), router()];
  // Express tries routes in order, so a separate router for the root keeps public links fast
  const routerFor = (path: string) => (path.startsWith(`${options.apiPrefix}/`) ? api : root);
  const getPath = ({ operation }: Route) => toExpressPath(operation, options.apiPrefix);
  for (const [path, routes] of groupByPath(options.routes, getPath)) {
    const expressRoute = routerFor(path).route(path);
    const allow = toAllow(routes.map(({ operation }) => operation));
    for (const route of routes) {
      const { operation } = route;
      const declaredProblems = new Set(getProblems(operation));
      expressRoute[operation.method]((request, response) => {
        response.setHeaders(new Map(Object.entries(deprecationHeaders(operation))));
        if (isRejected(request)) return rejectForOverload(route, request, response);
        const progress = takeProgress(request);
        const arrivedAt = progress?.arrivedAt ?? performance.now();
        return options.span(operation.id, request.headers, arrivedAt, () =>
          serve(options, route, declaredProblems, request, response, arrivedAt, progress),
        );
      });
      if (operation.crossOrigin) expressRoute.options(answerPreflight(operation, allow));
    }
    // another method: no path with a parameter may answer for this one
    expressRoute.all((_request, _response, next) => next('router'));
  }
  return (request, response, next) => routerFor(request.path)(request, response, next);
}

async function serve(
  options: RouterOptions,
  route: Route,
  declaredProblems: Set<Problem['kind']>,
  request: Request,
  response: Response,
  arrivedAt: number,
  progress: RequestProgress | undefined,
): Promise<void> {
  const { operation } = route;
  const requestId = getRequestId(response);
  const notes = createNotes();
  const call = createRequestInfo(request, requestId, notes);
  let principal: Principal | undefined;
  let failure: { problem: Problem; error?: unknown } | undefined;
  let mayHaveWritten = false;
  try {
    principal = operation.access.authenticated
      ? await authenticateRequest(options.authenticate, request, call.address)
      : undefined;
    if (principal) {
      await authorize(options, operation, principal);
      principal = { ...principal, request_id: requestId };
    }
    // reading a body, which may arrive slowly, and waiting in a long poll do not count
    if (operation.body || operation.longPoll) progress?.pause();
    const parsed = await parseRequest(operation, request, response, {
      bodies: options.bodies,
      principal,
      address: call.address,
      beforeBody: async (params, isLarge) => {
        const { authorize } = createResourceGuard(operation, principal);
        await route.beforeBody?.({ actor: principal, params, call, authorize, isLarge });
      },
    });
    if (!operation.longPoll) await progress?.resume();
    mayHaveWritten = mayWriteAlone(operation, request);
    const rendered = await respond(options, route, principal, parsed, request, call, notes);
    const headers = { ...rendered.headers, 'Cache-Control': getCacheControl(operation, rendered) };
    // a client that reads slowly is no work either
    progress?.pause();
    await send(request, response, { ...rendered, headers });
  } catch (error) {
    failure = toFailure(error, declaredProblems, mayHaveWritten);
    const { problem } = failure;
    sendProblem(response, problem, route.problemPage?.(problem, call, request.query));
  } finally {
    progress?.pause();
  }
  options.onOutcome({
    operation: operation.id,
    method: request.method,
    status: response.statusCode,
    durationMs: performance.now() - arrivedAt,
    requestId,
    principal,
    ...(failure && { problem: failure.problem.kind.code, ...getErrorPaths(failure.problem) }),
    ...(failure?.error !== undefined && { error: failure.error }),
    ...(operation.audit !== undefined && {
      audit: {
        event: operation.audit,
        outcome: failure?.problem.kind.code ?? (notes.replayed ? 'replayed' : 'done'),
        address: call.address,
        details: notes.details,
      },
    }),
  });
}

/** Sends the page for a request that was rejected before it reached Express. */
function rejectForOverload({ problemPage }: Route, request: Request, response: Response): void {
  const call = createRequestInfo(request, getRequestId(response), createNotes());
  sendProblem(response, overloadProblem, problemPage?.(overloadProblem, call, request.query));
}

/** Throws if the principal exceeds the rate limit or may not call the operation. */
async function authorize(
  { limit }: RouterOptions,
  operation: AnyOperation,
  principal: Principal,
): Promise<void> {
  const waitS = limit?.(`${principal.organization_id}/${principal.key_id ?? principal.user_id}`) ?? 0;
  if (limit && waitS > 0)
    throw TooManyRequests(undefined, { headers: rateLimitHeaders(limit.policy, waitS) });
  const problem = await operation.access.authorize(principal);
  if (problem) throw problem;
}

/**
 * Returns whether a request may write without a transaction. One with an `Idempotency-Key` stores its response in the
 * transaction of its changes, and one without credentials makes important changes only in a transaction.
 */
function mayWriteAlone({ method, access }: AnyOperation, { headers }: Request): boolean {
  if (method === 'get' || !access.authenticated) return false;
  return method !== 'post' || headers['idempotency-key'] === undefined;
}

/**
 * Converts an error to a problem for the caller. A problem that the operation does not declare is a bug: the
 * caller gets a 500 and the error is logged.
 */
function toFailure(
  error: unknown,
  declaredProblems: Set<Problem['kind']>,
  mayHaveWritten: boolean,
): { problem: Problem; error?: unknown } {
  const problem = toProblem(error, { mayHaveWritten });
  if (problem === error && declaredProblems.has(problem.kind)) return { problem };
  return { problem: problem === error ? toProblem(undefined) : problem, error };
}

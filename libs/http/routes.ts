/** Routes: each handled operation becomes an Express route that checks, parses, asks its handler and answers. */
import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import express, { type Request, type Response } from 'express';
import {
  type AnyOperation,
  getProblems,
  InvalidRequest,
  type Problem,
  rateLimitHeaders,
  TooManyRequests,
} from '#libs/contract';
import type { Store, StoredResponse } from '#libs/store';
import { callOf, type Trail } from './call.ts';
import { type Authenticate, recognize } from './credentials.ts';
import type { AuditDetails, HandlerInput, Principal, ReplayKey, RequestInfo, Route } from './handle.ts';
import { addLocation } from './location.ts';
import { answerPreflight } from './preflight.ts';
import { type Parsed, parseRequest } from './request.ts';
import type { TokenBucket } from './token-bucket.ts';
import { errorPaths, problemOf, type Rendered, render, send, sendProblem } from './write.ts';

/** How one request ended, for logs and metrics. */
export interface RequestOutcome {
  operation: string;
  method: string;
  status: number;
  durationMs: number;
  requestId: string;
  principal: Principal | undefined;
  /** The code of the problem, if it ended in one. */
  problem?: string;
  /** Where an invalid request (400) is wrong, as its `errors[].path` say; never what was there. */
  errorPaths?: string[];
  /** What went wrong on our side, if it did. */
  error?: unknown;
  /** What the security log is to say of it, if anything. */
  audit?: { event: string; outcome: string; address: string; details: AuditDetails };
}

/** What a service's routes need. */
export interface RouterOptions {
  routes: readonly Route[];
  store: Pick<Store, 'withIdempotencyKey'>;
  authenticate: Authenticate;
  /** Path before every operation of the API, e.g. `/api/v1`. */
  apiPrefix: string;
  /** The limit of requests per principal, if there is one. */
  limit: TokenBucket | undefined;
  /** Runs a request's work within a trace span. */
  span<R>(name: string, headers: Request['headers'], work: () => Promise<R>): Promise<R>;
  onOutcome(done: RequestOutcome): void;
}

/** A route for each handled operation. */
export function createRouter(options: RouterOptions): express.RequestHandler {
  const router = () => express.Router({ caseSensitive: true, strict: true });
  const [api, root] = [router(), router()];
  // a router tries its routes one after the other: public links need not wait for the whole API
  const routerOf = (path: string) => (path.startsWith(`${options.apiPrefix}/`) ? api : root);
  for (const handled of options.routes) {
    const { operation } = handled;
    const known = new Set(getProblems(operation));
    const path = pathOf(operation, options.apiPrefix);
    routerOf(path)[operation.method](path, (request, response) =>
      options.span(operation.id, request.headers, () => serve(options, handled, known, request, response)),
    );
    if (operation.crossOrigin) routerOf(path).options(path, answerPreflight(operation));
  }
  return (request, response, next) => routerOf(request.path)(request, response, next);
}

/** An operation's path as Express writes it. */
export function pathOf(operation: AnyOperation, apiPrefix: string): string {
  const path = operation.path.replaceAll(/\{(\w+)\}/g, ':$1');
  return operation.at === 'root' ? path : apiPrefix + path;
}

async function serve(
  routes: RouterOptions,
  handled: Route,
  known: Set<Problem['kind']>,
  request: Request,
  response: Response,
): Promise<void> {
  const startedAt = performance.now();
  const { operation } = handled;
  const requestId = String(response.getHeader('X-Request-Id'));
  const trail: Trail = { details: {}, replayed: false };
  const call = callOf(request, requestId, trail);
  let principal: Principal | undefined;
  let failure: { problem: Problem; error?: unknown } | undefined;
  try {
    principal = operation.access.authenticated ? await recognize(routes.authenticate, request) : undefined;
    if (principal) await admit(routes, operation, principal);
    const parsed = await parseRequest(operation, request, response);
    await send(request, response, await answered(routes, handled, principal, parsed, request, call, trail));
  } catch (error) {
    failure = failureOf(error, known);
    const { problem } = failure;
    sendProblem(response, problem, handled.problemPage?.(problem, call, request.query));
  }
  routes.onOutcome({
    operation: operation.id,
    method: request.method,
    status: response.statusCode,
    durationMs: performance.now() - startedAt,
    requestId,
    principal,
    ...(failure && { problem: failure.problem.kind.code, ...errorPaths(failure.problem) }),
    ...(failure?.error !== undefined && { error: failure.error }),
    ...(operation.audit !== undefined && {
      audit: {
        event: operation.audit,
        outcome: failure?.problem.kind.code ?? (trail.replayed ? 'replayed' : 'done'),
        address: request.ip ?? '',
        details: trail.details,
      },
    }),
  });
}

/** Rejects when a principal may not call the operation, or not so often. */
async function admit({ limit }: RouterOptions, operation: AnyOperation, principal: Principal): Promise<void> {
  const waitS = limit?.(`${principal.organization_id}/${principal.key_id ?? principal.user_id}`) ?? 0;
  if (limit && waitS > 0)
    throw TooManyRequests(undefined, { headers: rateLimitHeaders(limit.policy, waitS) });
  const refused = await operation.access.authorize(principal);
  if (refused) throw refused;
}

async function answered(
  { apiPrefix, store }: RouterOptions,
  handled: Route,
  principal: Principal | undefined,
  parsed: Parsed,
  request: Request,
  call: RequestInfo,
  trail: Trail,
): Promise<Rendered> {
  const { operation } = handled;
  const { params, query, body } = parsed;
  const toRendered = (reply: unknown) =>
    addLocation(operation, params, apiPrefix, render(operation.status, reply, request));
  const run = (actor: Principal | undefined) => handled.run({ actor, params, query, body, call });
  const key = operation.method === 'post' && principal ? idempotencyKey(request) : undefined;
  if (key === undefined || !principal) return toRendered(await run(principal));

  const scope = [
    principal.organization_id,
    principal.key_id ?? principal.user_id,
    request.method,
    request.path,
    key,
  ];
  const claim = { key: hash(JSON.stringify(scope)), fingerprint: hash(parsed.fingerprint) };
  let rendered: Rendered | undefined;
  const toResponse = (reply: unknown) => {
    rendered = toRendered(reply);
    return storedResponse(rendered, operation.secrets);
  };
  const result = await store.withIdempotencyKey(principal, { claim, toResponse }, run);
  if ('reply' in result) return rendered ?? toRendered(result.reply);
  trail.replayed = true;
  const asked = { actor: principal, params, query, body, call };
  await handled.authorizeReplay?.(asked);
  const { replayKey, ...stored } = result.stored;
  const response = replayKey
    ? toRendered(await replayOf(handled, asked, replayKey))
    : { ...stored, body: stored.body.length > 0 ? stored.body : undefined };
  return { ...response, headers: { ...response.headers, 'Idempotency-Replayed': 'true' } };
}

async function replayOf(handled: Route, asked: HandlerInput<AnyOperation>, key: ReplayKey): Promise<unknown> {
  if (!handled.replay) throw new Error(`${handled.operation.id} cannot render a response again`);
  return handled.replay(asked, key);
}

/** What the caller is told of an error, and what we keep of it; an unlisted problem is a mistake of ours. */
function failureOf(error: unknown, known: Set<Problem['kind']>): { problem: Problem; error?: unknown } {
  const problem = problemOf(error);
  if (problem === error && known.has(problem.kind)) return { problem };
  return { problem: problem === error ? problemOf(undefined) : problem, error };
}

function idempotencyKey(request: Request): string | undefined {
  const key = request.get('idempotency-key');
  if (key === undefined || /^[\x21-\x7e]{1,255}$/.test(key)) return key;
  const message = 'Use 1 to 255 printable ASCII characters without spaces';
  throw InvalidRequest(undefined, { extra: { errors: [{ path: 'header/Idempotency-Key', message }] } });
}

/** The response as it is stored: a secret that is shown once is null. */
function storedResponse(
  { status, headers, body, replayKey }: Rendered,
  secrets: readonly string[] = [],
): StoredResponse {
  if (body instanceof Readable) throw new Error('A response that is a stream cannot be stored');
  const common = { status, headers, ...(replayKey && { replayKey }) };
  if (secrets.length === 0) return { ...common, body: body ?? '' };
  const hidden = Object.fromEntries(secrets.map((field) => [field, null]));
  return {
    ...common,
    body: JSON.stringify({ ...JSON.parse(Buffer.from(body ?? '').toString('utf8')), ...hidden }),
  };
}

function hash(value: string | Uint8Array): string {
  return createHash('sha256').update(value).digest('base64url');
}

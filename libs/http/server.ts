/** The Express application around the routers. */
import { randomUUID } from 'node:crypto';
import { IncomingMessage, type RequestListener, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import express, { type NextFunction, type Request, type Response } from 'express';
import helmet from 'helmet';
import { InvalidRequest, MethodNotAllowed, NotFound, type Problem } from '#libs/contract';
import { type AdmissionOptions, admitRequests, takeProgress } from './admission-handler.ts';
import type { Route } from './handle.ts';
import { createPathRedactor } from './loggable-path.ts';
import { splitWholeNetwork } from './networks.ts';
import { toAllow } from './paths.ts';
import { getRequestId } from './request-info.ts';
import { sendProblem, toProblem } from './responses.ts';
import { createRouteFinder } from './route-finder.ts';

/**
 * Security headers. API responses are not pages, so the policy forbids everything; an operation that returns
 * a page sends its own policy. X-Frame-Options is omitted because `frame-ancestors` replaces it and is more
 * precise.
 */
const setSecurityHeaders = helmet({
  contentSecurityPolicy: {
    useDefaults: false,
    directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
  },
  xFrameOptions: false,
});

/**
 * A request that matched no operation: an unknown path, a known path with another method, or a malformed
 * path.
 */
export interface UnmatchedRequest {
  method: string;
  /** The redacted path, without its query. */
  path: string;
  status: number;
  requestId: string;
}

/**
 * Creates the application around `routers`. It adds security headers and request ids, returns 404 for an
 * unknown path and 405 for a known path with another method.
 */
export function application(options: {
  routers: readonly express.RequestHandler[];
  /** Without it, every request is accepted. */
  admission?: AdmissionOptions;
  routes: readonly Route[];
  apiPrefix: string;
  /** Networks whose `X-Forwarded-For` header is trusted, as CIDRs. */
  trustedProxies: readonly string[];
  /** Called for errors outside of any operation. */
  onError(message: string, error: unknown): void;
  /** Called for every request that matched no operation. */
  unmatched?(request: UnmatchedRequest): void;
}): RequestListener {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  const trusted = options.trustedProxies.flatMap(splitWholeNetwork);
  app.set('query parser', 'simple');
  app.set('trust proxy', trusted.length > 0 ? trusted : false);
  app.use(assertUniqueHeaders, escapeMalformedPath);
  const { routes, apiPrefix, admission } = options;
  const operations = routes.map(({ operation }) => operation);
  const toLoggablePath = createPathRedactor(operations, apiPrefix);
  const rejectUnmatched = (response: Response, problem: Problem) => {
    // the response ends only after the body has arrived
    takeProgress(response.req)?.pause();
    options.unmatched?.({
      method: response.req.method,
      path: toLoggablePath(response.req.path),
      status: problem.kind.status,
      requestId: getRequestId(response),
    });
    sendProblem(response, problem);
  };
  for (const router of options.routers) app.use(router);
  const findRoutes = createRouteFinder(routes, apiPrefix);
  app.use(handleUnknownRoute(findRoutes, rejectUnmatched));
  app.use((error: unknown, _request: Request, response: Response, _next: NextFunction) => {
    const problem = toProblem(error);
    // a caller cannot fill the log of errors
    if (problem.kind.status >= 500) options.onError('Request failed outside of an operation', error);
    rejectUnmatched(response, problem);
  });
  const listener = admission ? admitRequests(app, findRoutes, admission) : app;
  const addHeaders = createHeaderSetter();
  return (request, response) => {
    addHeaders(request, response);
    request.url = toOriginForm(request.url ?? '');
    listener(request, response);
  };
}

/** Returns the security headers. They are the same for every response, and `helmet` computes them anew each time. */
function getSecurityHeaders(): Map<string, string> {
  const response = new ServerResponse(new IncomingMessage(new Socket()));
  setSecurityHeaders(response.req, response, () => {});
  return new Map(Object.entries(response.getHeaders()).map(([name, value]) => [name, String(value)]));
}

/**
 * Removes the scheme and the authority from a request target (RFC 9112, 3.2). Without a path, Express would respond
 * itself, with its own page.
 */
function toOriginForm(target: string): string {
  if (target.startsWith('/')) return target;
  const rest = target.replace(/^[a-z][a-z0-9+.-]*:(?:\/\/[^/?#]*)?/i, '');
  return rest.startsWith('/') ? rest : `/${rest}`;
}

/** Returns a function that adds the headers that all responses have. */
function createHeaderSetter() {
  const securityHeaders = getSecurityHeaders();
  return (request: IncomingMessage, response: ServerResponse) => {
    const sent = request.headers['x-request-id'];
    const isValid = typeof sent === 'string' && /^[A-Za-z0-9._-]{1,128}$/.test(sent);
    response.setHeaders(securityHeaders);
    response.setHeader('X-Request-Id', isValid ? sent : randomUUID());
  };
}

/** Headers that decide who is asked and who asks. Node uses the first of several. */
const singleHeaders = new Set(['host', 'authorization']);

/** Throws `InvalidRequest` if a header that must be unique was sent twice, or if `Host` is missing. */
function assertUniqueHeaders(request: Request, _response: Response, next: NextFunction): void {
  const found = new Set<string>();
  for (let at = 0; at < request.rawHeaders.length; at += 2) {
    const name = request.rawHeaders[at]?.toLowerCase() ?? '';
    if (!singleHeaders.has(name)) continue;
    if (found.has(name)) throw InvalidRequest(`Send the header ${name} only once.`);
    found.add(name);
  }
  if (request.httpVersion === '1.1' && !found.has('host')) throw InvalidRequest('Send the header host.');
  next();
}

/**
 * Escapes the percent signs of a path that cannot be decoded. Its parameters then have a value that no resource has, so
 * that the response is the same as for any other one that does not exist.
 */
function escapeMalformedPath(request: Request, _response: Response, next: NextFunction): void {
  if (request.url.includes('%')) {
    const [, path = '', query = ''] = /^([^?]*)(.*)$/s.exec(request.url) ?? [];
    try {
      decodeURIComponent(path);
    } catch {
      request.url = path.replaceAll('%', '%25') + query;
    }
  }
  next();
}

function handleUnknownRoute(
  findRoutes: (path: string) => readonly Route[],
  rejectUnmatched: (response: Response, problem: Problem) => void,
) {
  return (request: Request, response: Response) => {
    const operations = findRoutes(request.path).map(({ operation }) => operation);
    if (operations.length === 0) return rejectUnmatched(response, NotFound('This route does not exist.'));
    rejectUnmatched(response, MethodNotAllowed(undefined, { headers: { Allow: toAllow(operations) } }));
  };
}

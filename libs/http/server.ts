/** The Express application around the routers, and the HTTP listener with graceful shutdown. */
import { randomUUID } from 'node:crypto';
import { createServer, IncomingMessage, type RequestListener, type Server, ServerResponse } from 'node:http';
import { type AddressInfo, Socket } from 'node:net';
import express, { type NextFunction, type Request, type Response } from 'express';
import helmet from 'helmet';
import { type AnyOperation, InvalidRequest, MethodNotAllowed, NotFound, type Problem } from '#libs/contract';
import { type AdmissionOptions, admitRequests, endProgress } from './admission-handler.ts';
import { answerClientErrors } from './client-errors.ts';
import { closeStalledReaders, serveConnections } from './connections.ts';
import { createPathRedactor } from './loggable-path.ts';
import { splitWholeNetwork } from './networks.ts';
import { groupByPath, toAllow, toExpressPath } from './paths.ts';
import { sendProblem, toProblem } from './responses.ts';

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
  operations: readonly AnyOperation[];
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
  const addHeaders = createHeaders();
  app.use((request, response, next) => {
    addHeaders(request, response);
    next();
  });
  app.use(assertUniqueHeaders, escapeMalformedPath);
  const toLoggablePath = createPathRedactor(options.operations, options.apiPrefix);
  const rejectUnmatched = (response: Response, problem: Problem) => {
    endProgress(response.req);
    options.unmatched?.({
      method: response.req.method,
      path: toLoggablePath(response.req.path),
      status: problem.kind.status,
      requestId: String(response.getHeader('X-Request-Id')),
    });
    sendProblem(response, problem);
  };
  for (const router of options.routers) app.use(router);
  app.use(handleUnknownRoute(options.operations, options.apiPrefix, rejectUnmatched));
  app.use((error: unknown, _request: Request, response: Response, _next: NextFunction) => {
    const problem = toProblem(error);
    // a caller cannot fill the log of errors
    if (problem.kind.status >= 500) options.onError('Request failed outside of an operation', error);
    rejectUnmatched(response, problem);
  });
  const { admission, apiPrefix } = options;
  const listener = admission ? admitRequests(app, { ...admission, apiPrefix, addHeaders }) : app;
  return (request, response) => {
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
 * Removes the scheme and the authority from a request target (RFC 9112, 3.2): only a target that begins with its path
 * surely reaches the handlers of Express.
 */
function toOriginForm(target: string): string {
  if (target.startsWith('/')) return target;
  const rest = target.replace(/^[a-z][a-z0-9+.-]*:(?:\/\/[^/?#]*)?/i, '');
  return rest.startsWith('/') ? rest : `/${rest}`;
}

/** Returns a function that adds the headers that all responses have. */
function createHeaders() {
  const securityHeaders = getSecurityHeaders();
  return (request: IncomingMessage, response: ServerResponse) => {
    const sent = request.headers['x-request-id'];
    const isValid = typeof sent === 'string' && /^[A-Za-z0-9._-]{1,128}$/.test(sent);
    response.setHeaders(securityHeaders);
    response.setHeader('X-Request-Id', isValid ? sent : randomUUID());
  };
}

/** A server that listens on a port. */
export interface HttpListener {
  port: number;
  /**
   * Stops accepting connections and waits up to `withinMs` for requests in flight. Then it closes the
   * remaining connections.
   */
  close(withinMs: number): Promise<void>;
}

/**
 * The connections that the kernel keeps until the server accepts them, one in each turn of the event loop. A client
 * whose connection is not kept tries again after one second, then after two, four and eight.
 */
const maxPendingConnections = 4_096;

/**
 * Starts an HTTP server. Port 0 selects a free port. Rejects if the port is in use. The connection of a client that
 * reads nothing of its response for `stalledMs` (default: one minute) is closed. A request must arrive within
 * `requestMs` (default: one minute).
 */
export async function listen(
  app: RequestListener,
  port: number,
  host: string,
  { stalledMs = 60_000, requestMs = 60_000 } = {},
): Promise<HttpListener> {
  const sockets = new Set<Socket>();
  const server = createServer({
    requestTimeout: requestMs,
    headersTimeout: Math.min(15_000, requestMs),
    // how often both limits are checked
    connectionsCheckingInterval: Math.min(5_000, requestMs),
    keepAliveTimeout: 65_000,
    // Node's own response has no body: `assertUniqueHeaders` rejects these requests
    requireHostHeader: false,
  });
  const busySockets = serveConnections(server, app);
  closeStalledReaders(server, busySockets, stalledMs);
  // an expectation that is not known is ignored
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  answerClientErrors(server, busySockets);
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen({ port, host, backlog: maxPendingConnections }, resolve);
  });
  return { port: getPort(server), close: (withinMs) => closeServer(server, sockets, withinMs) };
}

async function closeServer(server: Server, sockets: ReadonlySet<Socket>, withinMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  // connections that never sent anything do not count as idle
  for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
  const idle = setInterval(() => server.closeIdleConnections(), 100);
  const limit = setTimeout(() => server.closeAllConnections(), withinMs);
  server.closeIdleConnections();
  await closed;
  clearInterval(idle);
  clearTimeout(limit);
}

function getPort(server: Server): number {
  // the address of a listening TCP server is always an object
  return (server.address() as AddressInfo).port;
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
  operations: readonly AnyOperation[],
  apiPrefix: string,
  rejectUnmatched: (response: Response, problem: Problem) => void,
) {
  const getPath = (operation: AnyOperation) => toExpressPath(operation, apiPrefix);
  const table = groupByPath(operations, getPath).map(([path, own]) => {
    const pattern = path.replaceAll('.', '\\.').replaceAll(/:\w+/g, '[^/]+');
    return { pattern: new RegExp(`^${pattern}$`), Allow: toAllow(own) };
  });
  return (request: Request, response: Response) => {
    const found = table.find(({ pattern }) => pattern.test(request.path));
    if (!found) return rejectUnmatched(response, NotFound('This route does not exist.'));
    rejectUnmatched(response, MethodNotAllowed(undefined, { headers: { Allow: found.Allow } }));
  };
}

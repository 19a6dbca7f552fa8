/** The application around the routes, and the listener that stops in an orderly way. */
import { randomUUID } from 'node:crypto';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import express, { type NextFunction, type Request, type Response } from 'express';
import helmet from 'helmet';
import { type AnyOperation, InvalidRequest, MethodNotAllowed, NotFound, type Problem } from '#libs/contract';
import { createPathRedactor } from './loggable-path.ts';
import { sendProblem, toProblem } from './responses.ts';
import { toExpressPath } from './routes.ts';

/**
 * Answers of the API are no pages; an operation that gives one sends its own policy. `frame-ancestors` says
 * who may frame it, so X-Frame-Options, which cannot say as much, is left out.
 */
const headers = {
  contentSecurityPolicy: {
    useDefaults: false,
    directives: { defaultSrc: ["'none'"], frameAncestors: ["'none'"] },
  },
  xFrameOptions: false,
};

/**
 * A request that reached no operation: an unknown path, a known one with a wrong method, or a malformed one.
 */
export interface UnmatchedRequest {
  method: string;
  /** Without its query and without what may be secret. */
  path: string;
  status: number;
  requestId: string;
}

/**
 * Puts routers behind what every answer carries; unknown routes get 404, known ones with a wrong method 405.
 */
export function application(options: {
  routers: readonly express.RequestHandler[];
  operations: readonly AnyOperation[];
  apiPrefix: string;
  /** Networks whose `X-Forwarded-For` counts, as CIDRs. */
  trustedProxies: readonly string[];
  /** Told of errors outside of any operation. */
  onError(what: string, error: unknown): void;
  /** Called with each request that reached no operation. */
  unmatched?(request: UnmatchedRequest): void;
}): express.Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.set('query parser', 'simple');
  app.set('trust proxy', options.trustedProxies.length > 0 ? [...options.trustedProxies] : false);
  app.use(helmet(headers), setRequestId);
  const toLoggablePath = createPathRedactor(options.operations, options.apiPrefix);
  const refuse = (response: Response, problem: Problem) => {
    options.unmatched?.({
      method: response.req.method,
      path: toLoggablePath(response.req.path),
      status: problem.kind.status,
      requestId: String(response.getHeader('X-Request-Id')),
    });
    sendProblem(response, problem);
  };
  for (const router of options.routers) app.use(router);
  app.use(handleUnknownRoute(options.operations, options.apiPrefix, refuse));
  app.use((error: unknown, _request: Request, response: Response, _next: NextFunction) => {
    if (error instanceof URIError) return refuse(response, InvalidRequest('The path is not well-formed.'));
    options.onError('A request failed outside of its operation', error);
    refuse(response, toProblem(error));
  });
  return app;
}

/** A listening server. */
export interface HttpListener {
  port: number;
  /**
   * Takes no new connections, lets requests in flight finish within the time given, then cuts what is left.
   */
  close(withinMs: number): Promise<void>;
}

/** Listens; port 0 takes a free one. Rejects when the port is taken. */
export async function listen(app: RequestListener, port: number, host: string): Promise<HttpListener> {
  const sockets = new Set<Socket>();
  const server = createServer(
    { requestTimeout: 60_000, headersTimeout: 20_000, keepAliveTimeout: 65_000 },
    app,
  );
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  return { port: getPort(server), close: (withinMs) => closeServer(server, sockets, withinMs) };
}

async function closeServer(server: Server, sockets: ReadonlySet<Socket>, withinMs: number): Promise<void> {
  const closed = new Promise<void>((resolve) => server.close(() => resolve()));
  // connections that never said anything do not count as idle
  for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy();
  const idle = setInterval(() => server.closeIdleConnections(), 100);
  const limit = setTimeout(() => server.closeAllConnections(), withinMs);
  server.closeIdleConnections();
  await closed;
  clearInterval(idle);
  clearTimeout(limit);
}

function getPort(server: Server): number {
  // a TCP server's address is an object once it listens
  return (server.address() as AddressInfo).port;
}

function setRequestId(request: Request, response: Response, next: NextFunction): void {
  const given = request.get('x-request-id');
  response.setHeader('X-Request-Id', given && /^[A-Za-z0-9._-]{1,128}$/.test(given) ? given : randomUUID());
  next();
}

function handleUnknownRoute(
  operations: readonly AnyOperation[],
  apiPrefix: string,
  refuse: (response: Response, problem: Problem) => void,
) {
  const table = operations.map((operation) => {
    const pattern = toExpressPath(operation, apiPrefix)
      .replaceAll(/[.]/g, '\\.')
      .replaceAll(/:\w+/g, '[^/]+');
    return { pattern: new RegExp(`^${pattern}$`), method: operation.method.toUpperCase() };
  });
  return (request: Request, response: Response) => {
    const methods = table.filter(({ pattern }) => pattern.test(request.path)).map(({ method }) => method);
    if (methods.length === 0) return refuse(response, NotFound('There is no such route.'));
    if (methods.includes('GET')) methods.push('HEAD');
    refuse(response, MethodNotAllowed(undefined, { headers: { Allow: [...new Set(methods)].join(', ') } }));
  };
}

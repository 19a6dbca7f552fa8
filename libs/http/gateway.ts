/**
 * A gateway for local work and tests. It joins several services on one port and forwards each path to the
 * service whose contract declares it.
 */
import { Agent, type IncomingMessage, type RequestListener, request, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream';
import { type Contract, NotFound, newId, type Problem, problem, Unavailable } from '#libs/contract';
import { createPathRedactor } from './loggable-path.ts';
import { toExpressPath } from './paths.ts';
import type { UnmatchedRequest } from './server.ts';

/** Options of a gateway. */
export interface GatewayOptions {
  contracts: readonly Contract[];
  /** Prefix of all API paths, e.g. `/api/v1`. */
  apiPrefix: string;
  /** Base URL of each service by its name, e.g. `http://127.0.0.1:8101`. */
  addresses: Readonly<Record<string, string>>;
  /** Called for every request that matches no service. */
  unmatched?(request: UnmatchedRequest): void;
  /** Called if a service did not respond. */
  onError(message: string, error: unknown): void;
}

/** A service accepted a request and closed the connection without a response. */
export const BadGateway = problem(
  'bad_gateway',
  502,
  'The service closed the connection before it responded. The request may or may not have taken effect.',
);

/**
 * Creates a listener that streams requests and responses in both directions without buffering. It returns 503
 * if a service is down, and 502 if a service closes the connection before it responds.
 */
export function gateway({
  contracts,
  apiPrefix,
  addresses,
  unmatched,
  onError,
}: GatewayOptions): RequestListener {
  const operations = contracts.flatMap((contract) => contract.operations);
  const toLoggablePath = createPathRedactor(operations, apiPrefix);
  const findService = createServiceLookup(contracts, apiPrefix);
  // a service that rejects a large body early reads the rest only on a keep-alive connection
  const agent = new Agent({ keepAlive: true });
  return (incoming, response) => {
    const id = getRequestId(incoming);
    const service = findService(incoming.url ?? '/');
    if (service === undefined) {
      const { method = '', url = '/' } = incoming;
      unmatched?.({ method, path: toLoggablePath(url), status: NotFound.status, requestId: id });
      return sendProblem(incoming, response, id, NotFound('This route does not exist.'));
    }
    const address = addresses[service];
    if (address === undefined) throw new Error(`The gateway has no address for ${service}`);
    const outgoing = request(address, {
      method: incoming.method,
      path: incoming.url,
      headers: toForwardedHeaders(incoming, id),
      agent,
    });
    outgoing.on('response', (serviceResponse) => {
      response.writeHead(
        serviceResponse.statusCode ?? 502,
        serviceResponse.statusMessage,
        getEndToEndHeaders(serviceResponse),
      );
      pipeline(serviceResponse, response, () => {});
    });
    outgoing.on('error', (error) => {
      // a response that was already started ends with its own stream
      if (response.destroyed || response.headersSent) return;
      onError(`${service} did not respond`, error);
      const retry = { headers: { 'Retry-After': '2' } };
      const isUnreachable = 'code' in error && unreachableCodes.has(String(error.code));
      sendProblem(
        incoming,
        response,
        id,
        isUnreachable ? Unavailable(undefined, retry) : BadGateway(undefined, retry),
      );
    });
    response.on('close', () => {
      if (!response.writableFinished) outgoing.destroy();
    });
    // errors are handled by the event handlers above
    pipeline(incoming, outgoing, () => {});
  };
}

/** Error codes that mean that the service received nothing of the request. */
const unreachableCodes = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH']);

/**
 * Creates a function that returns the name of the service for a URL. Paths without parameters take
 * precedence.
 */
function createServiceLookup(contracts: readonly Contract[], apiPrefix: string) {
  const table = contracts
    .flatMap(({ name, operations }) =>
      operations.map((operation) => ({ name, path: toExpressPath(operation, apiPrefix) })),
    )
    .map(({ name, path }) => ({
      name,
      parameters: path.split(':').length,
      pattern: new RegExp(`^${path.replaceAll('.', '\\.').replaceAll(/:\w+/g, '[^/]+')}/?$`, 'i'),
    }))
    .sort((a, b) => a.parameters - b.parameters);
  return (url: string) => {
    const path = url.split('?', 1)[0] ?? '';
    return table.find(({ pattern }) => pattern.test(path))?.name;
  };
}

/**
 * Returns the headers to forward. `X-Forwarded-For` is replaced with the address that the gateway sees,
 * because a client can forge it.
 */
function toForwardedHeaders(incoming: IncomingMessage, id: string): Record<string, string | string[]> {
  return {
    ...getEndToEndHeaders(incoming),
    // a body without a known length needs chunked encoding to mark its end
    ...(incoming.headers['transfer-encoding'] !== undefined && { 'transfer-encoding': 'chunked' }),
    'x-forwarded-for': incoming.socket.remoteAddress ?? '',
    'x-request-id': id,
  };
}

/** Returns the headers without the hop-by-hop headers of a single connection (RFC 9110, section 7.6.1). */
function getEndToEndHeaders({ headers }: IncomingMessage): Record<string, string | string[]> {
  const named = headers.connection?.toLowerCase().split(',') ?? [];
  const dropped = new Set([...hopByHop, ...named.map((name) => name.trim())]);
  const headersToForward: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined && !dropped.has(name)) headersToForward[name] = value;
  return headersToForward;
}

const hopByHop = 'connection expect keep-alive proxy-connection te trailer transfer-encoding upgrade'.split(
  ' ',
);

function getRequestId({ headers }: IncomingMessage): string {
  const sent = headers['x-request-id'];
  return typeof sent === 'string' && /^[A-Za-z0-9._-]{1,128}$/.test(sent) ? sent : newId();
}

function sendProblem(
  incoming: IncomingMessage,
  response: ServerResponse,
  id: string,
  { kind, message, headers }: Problem,
): void {
  const { code, status, title } = kind;
  const body = { type: `urn:problem:${code}`, title, status, detail: message, code, request_id: id };
  response.writeHead(status, { ...headers, 'content-type': 'application/problem+json', 'x-request-id': id });
  response.end(incoming.method === 'HEAD' ? undefined : JSON.stringify(body));
  incoming.resume();
}

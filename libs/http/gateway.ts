/**
 * The gateway: the services joined on one port, each path sent to the service whose contract declares it; for
 * local work and tests.
 */
import { Agent, type IncomingMessage, type RequestListener, request, type ServerResponse } from 'node:http';
import { pipeline } from 'node:stream';
import { type Contract, NotFound, newId, type Problem, problem, Unavailable } from '#libs/contract';
import { createPathRedactor } from './loggable-path.ts';
import { toExpressPath } from './routes.ts';
import type { UnmatchedRequest } from './server.ts';

/** What a gateway knows. */
export interface GatewayOptions {
  contracts: readonly Contract[];
  /** Path before every operation of the API. */
  apiPrefix: string;
  /** Where each service answers, by its name, e.g. `http://127.0.0.1:8101`. */
  addresses: Readonly<Record<string, string>>;
  /** Called with each request that belongs to no service. */
  unmatched?(request: UnmatchedRequest): void;
  /** Told of requests that a service did not answer. */
  onError(what: string, error: unknown): void;
}

const BadGateway = problem(
  'bad_gateway',
  502,
  'A part of the service broke off before it answered; whether anything was changed is not known.',
);

/**
 * A listener that passes requests and answers on as they come, without keeping them; a service that is down
 * is a 503.
 */
export function gateway({
  contracts,
  apiPrefix,
  addresses,
  unmatched,
  onError,
}: GatewayOptions): RequestListener {
  const operations = contracts.flatMap((one) => one.operations);
  const toLoggablePath = createPathRedactor(operations, apiPrefix);
  const findService = createServiceLookup(contracts, apiPrefix);
  // a service that refuses a body early reads the rest of it only where the connection stays
  const agent = new Agent({ keepAlive: true });
  return (incoming, response) => {
    const id = getRequestId(incoming);
    const service = findService(incoming.url ?? '/');
    if (service === undefined) {
      const { method = '', url = '/' } = incoming;
      unmatched?.({ method, path: toLoggablePath(url), status: NotFound.status, requestId: id });
      return sendProblem(incoming, response, id, NotFound('There is no such route.'));
    }
    const address = addresses[service];
    if (address === undefined) throw new Error(`The gateway has no address of ${service}`);
    const outgoing = request(address, {
      method: incoming.method,
      path: incoming.url,
      headers: toForwardedHeaders(incoming, id),
      agent,
    });
    outgoing.on('response', (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.statusMessage, getEndToEndHeaders(answer));
      pipeline(answer, response, () => {});
    });
    outgoing.on('error', (error) => {
      // an answer that broke off ends with its own stream
      if (response.destroyed || response.headersSent) return;
      onError(`${service} did not answer`, error);
      const retry = { headers: { 'Retry-After': '2' } };
      const unreached = 'code' in error && unreachableCodes.has(String(error.code));
      sendProblem(
        incoming,
        response,
        id,
        unreached ? Unavailable(undefined, retry) : BadGateway(undefined, retry),
      );
    });
    response.on('close', () => {
      if (!response.writableFinished) outgoing.destroy();
    });
    // what breaks is told by the events above
    pipeline(incoming, outgoing, () => {});
  };
}

/** Nothing of the request has arrived anywhere. */
const unreachableCodes = new Set(['ECONNREFUSED', 'ENOTFOUND', 'EAI_AGAIN', 'EHOSTUNREACH', 'ENETUNREACH']);

/** The name of the service that a URL leads to; paths without parameters before those with. */
function createServiceLookup(contracts: readonly Contract[], apiPrefix: string) {
  const table = contracts
    .flatMap(({ name, operations }) =>
      operations.map((one) => ({ name, path: toExpressPath(one, apiPrefix) })),
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

/** The headers that go on to the service; who asks is what the gateway saw, not what was said. */
function toForwardedHeaders(incoming: IncomingMessage, id: string): Record<string, string | string[]> {
  return {
    ...getEndToEndHeaders(incoming),
    // of a body of unknown length only its framing says where it ends
    ...(incoming.headers['transfer-encoding'] !== undefined && { 'transfer-encoding': 'chunked' }),
    'x-forwarded-for': incoming.socket.remoteAddress ?? '',
    'x-request-id': id,
  };
}

/** Headers without those that concern one connection only (RFC 9110, 7.6.1). */
function getEndToEndHeaders({ headers }: IncomingMessage): Record<string, string | string[]> {
  const named = headers.connection?.toLowerCase().split(',') ?? [];
  const dropped = new Set([...hopByHop, ...named.map((one) => one.trim())]);
  const headersToForward: Record<string, string | string[]> = {};
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined && !dropped.has(name)) headersToForward[name] = value;
  return headersToForward;
}

const hopByHop = 'connection expect keep-alive proxy-connection te trailer transfer-encoding upgrade'.split(
  ' ',
);

function getRequestId({ headers }: IncomingMessage): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && /^[A-Za-z0-9._-]{1,128}$/.test(given) ? given : newId();
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

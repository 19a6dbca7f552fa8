/** Starts and stops HTTP servers. */
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import {
  type AddressInfo,
  createServer as createNetServer,
  type ListenOptions,
  type Server as NetServer,
  type Socket,
} from 'node:net';
import { answerClientErrors } from './client-errors.ts';
import { closeStalledReaders, serveConnections } from './connections.ts';

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
 * The connections that the kernel keeps until a socket accepts them. A client whose connection is not kept tries again
 * after one second, then after two, four and eight.
 */
const maxPendingConnections = 4_096;

/**
 * How many sockets listen on a port. In each turn of the event loop, Node accepts one connection of each, and a turn of
 * a busy process takes 5 to 30 ms: with one socket, some of 600 clients that connect at once wait for seconds (ADR 76).
 */
const socketsPerPort = 16;

/** Deno accepts all connections in one turn, and other systems than Linux do not distribute them among the sockets. */
const canSharePort = process.platform === 'linux' && !process.versions.deno;

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
  const listening = canSharePort
    ? await openSockets(server, port, host)
    : [await open(server, { port, host })];
  return { port: getPort(server), close: (withinMs) => closeServer(server, listening, sockets, withinMs) };
}

/** Opens the sockets of a port. The server handles the connections of them all. Returns what listens. */
async function openSockets(server: Server, port: number, host: string): Promise<NetServer[]> {
  // sockets that share a port would share it with another process that does the same
  if (port !== 0) await close(await open(createNetServer(), { port, host }));
  const others = Array.from({ length: socketsPerPort - 1 }, () =>
    // the options of an HTTP server
    createNetServer({ allowHalfOpen: true, noDelay: true }, (socket) => server.emit('connection', socket)),
  );
  try {
    await open(server, { port, host, reusePort: true });
    await Promise.all(others.map((other) => open(other, { port: getPort(server), host, reusePort: true })));
  } catch (error) {
    for (const one of [server, ...others]) one.close();
    throw error;
  }
  return [server, ...others];
}

async function open<T extends NetServer>(server: T, at: ListenOptions): Promise<T> {
  server.listen({ ...at, backlog: maxPendingConnections });
  await once(server, 'listening');
  // a connection that cannot be accepted, e.g. for want of memory: its client connects again
  server.on('error', () => {});
  return server;
}

async function close(server: NetServer): Promise<void> {
  await new Promise((resolve) => server.close(resolve));
}

async function closeServer(
  server: Server,
  listening: readonly NetServer[],
  sockets: ReadonlySet<Socket>,
  withinMs: number,
): Promise<void> {
  const closed = Promise.all(listening.map(close));
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

/** Passes the requests of connections to an application, and closes connections that misbehave. */
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';

/**
 * The requests of one connection that may be in flight. A client that sends the next one before it has the response of
 * the last one could otherwise start hundreds with 64 KiB, in one turn of the event loop.
 */
const maxInFlight = 16;

/** The connections with requests in flight. A request is in flight until it is read and its response is closed. */
export interface BusyConnections {
  has(socket: object): boolean;
  /** Whether a part of the oldest request in flight is missing, and its response has not begun. */
  isReading(socket: object): boolean;
}

/**
 * Passes requests to the application. Closes a connection with more than `maxInFlight` requests in flight. Returns the
 * connections that have any.
 */
export function serveConnections(server: Server, app: RequestListener): BusyConnections {
  const inFlight = new WeakMap<object, Set<ServerResponse>>();
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request;
    // Node still passes on the requests that it has read
    if (socket.destroyed) return;
    const responses = inFlight.get(socket) ?? new Set();
    if (responses.size === maxInFlight) return void socket.destroy();
    inFlight.set(socket, responses.add(response));
    const remove = () => {
      responses.delete(response);
      if (responses.size === 0) inFlight.delete(socket);
    };
    response.once('close', () => {
      if (request.complete) remove();
      // a broken rest of this request must not get a second response
      else request.once('close', remove);
    });
    app(request, response);
  });
  return {
    has: (socket) => inFlight.has(socket),
    isReading(socket) {
      const [oldest] = inFlight.get(socket) ?? [];
      return oldest?.headersSent === false && !oldest.req.complete;
    },
  };
}

/** Closes connections whose clients read nothing of their responses for `stalledMs`. */
export function closeStalledReaders(
  server: Server,
  busySockets: Pick<BusyConnections, 'has'>,
  stalledMs: number,
): void {
  // Node calls this after this time without progress, and between two requests after `keepAliveTimeout`
  server.setTimeout(stalledMs, (socket) => {
    const isBeforeResponse = busySockets.has(socket) && socket.writableLength === 0;
    if (!isBeforeResponse) socket.destroy();
  });
}

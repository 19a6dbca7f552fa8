/** Responds to a request before its body has arrived, so that the client reads the response and no reset. */
import type { IncomingMessage, ServerResponse } from 'node:http';

/** How much of the rest of a body is read and discarded. The largest body of an operation has 32 MiB. */
const defaultLimits = { maxBytes: 32 * 2 ** 20, maxMs: 5_000 };

/**
 * Sends the body of a response with a `Content-Length`. If the body of the request has not arrived, the connection
 * stays open until it has, or until a limit: a closed connection with unread data resets the connection, and a client
 * that is still sending may then lose the response.
 */
export function endResponse(
  response: ServerResponse,
  body: string | undefined,
  { maxBytes, maxMs } = defaultLimits,
): void {
  const request = response.req;
  if (request.complete || !hasBody(request)) {
    response.end(body);
    return;
  }
  if (body === undefined) response.flushHeaders();
  else response.write(body);
  let rest = maxBytes;
  const end = () => {
    clearTimeout(timer);
    request.off('data', discard).off('end', end).off('close', end);
    response.end(() => request.complete || request.destroy());
  };
  const discard = (chunk: Buffer) => {
    rest -= chunk.length;
    if (rest < 0) end();
  };
  const timer = setTimeout(end, maxMs);
  request.on('data', discard).on('end', end).on('close', end);
  request.resume();
}

function hasBody({ headers }: IncomingMessage): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}

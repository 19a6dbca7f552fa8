/** Responds to what Node's HTTP parser rejects, when there is no request that a router could answer. */
import { randomUUID } from 'node:crypto';
import { type Server, STATUS_CODES } from 'node:http';
import { HeadersTooLarge, InvalidRequest, type Problem } from '#libs/contract';
import type { BusyConnections } from './connections.ts';
import { toProblemBody } from './responses.ts';

/**
 * Responds with a problem, then closes the connection. A response must not be mixed with another one, so a
 * connection with requests in flight is only closed, unless the error concerns the rest of the oldest one. A
 * connection that has sent nothing is only closed, too.
 */
export function answerClientErrors(server: Server, connections: BusyConnections): void {
  server.on('clientError', (error: NodeJS.ErrnoException, socket) => {
    const isFree = connections.isReading(socket) || !connections.has(socket);
    const isUnused = 'bytesRead' in socket && socket.bytesRead === 0;
    if (!socket.writable || !isFree || isUnused) socket.destroy();
    else socket.end(toResponse(error.code), () => socket.destroy());
  });
}

function toResponse(code: string | undefined): string {
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT') return `${toStatusLine(408)}Connection: close\r\n\r\n`;
  if (code === 'HPE_HEADER_OVERFLOW') return toProblemResponse(HeadersTooLarge());
  return toProblemResponse(InvalidRequest('The request is not valid HTTP/1.1.'));
}

function toProblemResponse(problem: Problem): string {
  const requestId = randomUUID();
  const body = toProblemBody(problem, requestId);
  const headers = {
    Connection: 'close',
    'Content-Type': 'application/problem+json',
    'Content-Length': String(Buffer.byteLength(body)),
    'Cache-Control': 'no-store',
    'X-Content-Type-Options': 'nosniff',
    'X-Request-Id': requestId,
  };
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
  return `${toStatusLine(problem.kind.status)}${lines.join('')}\r\n${body}`;
}

function toStatusLine(status: number): string {
  return `HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\n`;
}

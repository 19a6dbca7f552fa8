/** A webhook receiver for tests: an HTTP server on 127.0.0.1 that records requests. */
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import type { Certificate } from './certificate.ts';

/** A request that was received completely. */
export interface ReceivedRequest {
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/** Decides the reply to a request. */
export type Responder = (received: ReceivedRequest) => Reply | Promise<Reply>;
/** A status, or a status with headers and a body. */
export type Reply = number | { status: number; headers?: Record<string, string>; body?: string };

/** A running receiver. */
export interface WebhookReceiver {
  url: string;
  port: number;
  /** Received requests, oldest first. */
  received: ReceivedRequest[];
  /** Returns the highest number of requests that were open at the same time. */
  maxConcurrent(): number;
  close(): Promise<void>;
}

/** Starts a receiver. `respond` decides every reply; the default is 204. With a certificate it uses https. */
export async function webhookReceiver(
  respond: Responder = () => 204,
  tls?: Certificate,
  onPort = 0,
): Promise<WebhookReceiver> {
  const received: ReceivedRequest[] = [];
  let open = 0;
  let maxOpen = 0;
  const serve: RequestListener = async (request, response) => {
    open += 1;
    maxOpen = Math.max(maxOpen, open);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString('utf8');
    const receivedRequest = { path: request.url ?? '', headers: request.headers, body };
    received.push(receivedRequest);
    const reply = await respond(receivedRequest);
    open -= 1;
    const { status, headers = {}, body: text = '' } = typeof reply === 'number' ? { status: reply } : reply;
    response.writeHead(status, headers).end(text);
  };
  const server = tls ? createTlsServer(tls, serve) : createServer(serve);
  const port = await listen(server, onPort);
  return {
    url: tls ? `https://localhost:${port}/hook` : `http://127.0.0.1:${port}/hook`,
    port,
    received,
    maxConcurrent: () => maxOpen,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Listens on a port of 127.0.0.1, by default a free one, and returns the port. */
export async function listen(server: Server, port = 0): Promise<number> {
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  // the address of a listening TCP server is always an object
  return (server.address() as AddressInfo).port;
}

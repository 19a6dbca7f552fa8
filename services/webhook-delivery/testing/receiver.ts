/** A receiver for tests: a real HTTP server on 127.0.0.1 that keeps what it gets and answers as it is told. */
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo, Server } from 'node:net';
import type { Certificate } from './certificate.ts';

/** One request that arrived whole. */
export interface ReceivedRequest {
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
}

/** An answer: a status, with headers if need be. */
export type Responder = (received: ReceivedRequest) => Reply | Promise<Reply>;
export type Reply = number | { status: number; headers?: Record<string, string>; body?: string };

/** A running receiver. */
export interface WebhookReceiver {
  url: string;
  port: number;
  /** What arrived, the first first. */
  received: ReceivedRequest[];
  /** The most requests that were open at the same time. */
  most(): number;
  close(): Promise<void>;
}

/** Starts a receiver; `answering` decides every answer. With a certificate it speaks https. */
export async function webhookReceiver(
  answering: Responder = () => 204,
  tls?: Certificate,
  onPort = 0,
): Promise<WebhookReceiver> {
  const received: ReceivedRequest[] = [];
  let open = 0;
  let most = 0;
  const serve: RequestListener = async (request, response) => {
    open += 1;
    most = Math.max(most, open);
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString('utf8');
    const one = { path: request.url ?? '', headers: request.headers, body };
    received.push(one);
    const reply = await answering(one);
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
    most: () => most,
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** Listens on a port of 127.0.0.1, a free one unless said, and gives it. */
export async function listen(server: Server, port = 0): Promise<number> {
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  // a TCP server's address is an object once it listens
  return (server.address() as AddressInfo).port;
}

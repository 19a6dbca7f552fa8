/** A webhook receiver for tests, benchmarks and the demo: an HTTP server on 127.0.0.1 that records requests. */
import { createServer, type IncomingHttpHeaders, type RequestListener } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { closeServer, listenLocally } from './ports.ts';

/** A request that was received completely. */
export interface ReceivedRequest {
  path: string;
  headers: IncomingHttpHeaders;
  body: string;
  /** When its headers arrived, Unix ms. */
  at: number;
  /** The status of the response and when it was sent, Unix ms; undefined before that. */
  response?: { status: number; at: number };
}

/** Decides the reply to a request. */
export type Responder = (received: ReceivedRequest) => Reply | Promise<Reply>;
/** A status, or a status with headers and a body. */
export type Reply = number | { status: number; headers?: Record<string, string>; body?: string };

/** A running receiver. */
export interface WebhookReceiver {
  /** The URL of a webhook, if one is enough. */
  url: string;
  port: number;
  /** Returns the URL of a webhook with this name. */
  urlFor(name: string): string;
  /** Received requests, oldest first. */
  received: ReceivedRequest[];
  /** Returns the requests to the webhook with this name, oldest first. */
  requestsTo(name: string): ReceivedRequest[];
  /** Sets the responder of later requests; without one, all get 204. */
  respondWith(respond?: Responder): void;
  /** Delays all responses. Resolves when a request waits for its response. */
  hold(): Promise<void>;
  /** Sends the delayed responses and stops delaying. */
  release(): void;
  /** Returns the highest number of requests that were open at the same time. */
  maxConcurrent(): number;
  close(): Promise<void>;
}

/** Options of `webhookReceiver`. */
export interface ReceiverOptions {
  /** With a key and a certificate in PEM, the receiver uses https. */
  tls?: { key: string; cert: string };
  /** Default: a free port. */
  port?: number;
  /** Whether `received` keeps the requests, by default yes. The responder gets them in any case. */
  isRecording?: boolean;
}

/** Starts a receiver. `respond` decides every reply; the default is 204. */
export async function webhookReceiver(
  respond: Responder = () => 204,
  { tls, port: onPort = 0, isRecording = true }: ReceiverOptions = {},
): Promise<WebhookReceiver> {
  const received: ReceivedRequest[] = [];
  let responder = respond;
  let held: { onArrival(): void; over: Promise<void>; end(): void } | undefined;
  let open = 0;
  let maxOpen = 0;
  const serve: RequestListener = (request, response) => {
    const at = Date.now();
    open += 1;
    maxOpen = Math.max(maxOpen, open);
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', async () => {
      const body = Buffer.concat(chunks).toString('utf8');
      const one: ReceivedRequest = { path: request.url ?? '', headers: request.headers, body, at };
      if (isRecording) received.push(one);
      held?.onArrival();
      await held?.over;
      const reply = await responder(one);
      open -= 1;
      const { status, headers = {}, body: text = '' } = typeof reply === 'number' ? { status: reply } : reply;
      one.response = { status, at: Date.now() };
      response.writeHead(status, headers).end(text);
    });
  };
  const server = tls ? createTlsServer(tls, serve) : createServer(serve);
  const port = await listenLocally(server, onPort);
  const urlFor = (name: string) => `${tls ? 'https://localhost' : 'http://127.0.0.1'}:${port}/${name}`;
  return {
    url: urlFor('hook'),
    port,
    urlFor,
    received,
    requestsTo: (name) => received.filter(({ path }) => path === `/${name}`),
    respondWith(next = () => 204) {
      responder = next;
    },
    hold() {
      const [arrival, ending] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
      held = { onArrival: arrival.resolve, over: ending.promise, end: ending.resolve };
      return arrival.promise;
    },
    release() {
      held?.end();
      held = undefined;
    },
    maxConcurrent: () => maxOpen,
    close: () => closeServer(server),
  };
}

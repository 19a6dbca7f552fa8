/** A webhook receiver that verifies both signatures, as every receiver should. */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A received delivery with its raw body. */
export interface Delivery {
  headers: IncomingHttpHeaders;
  body: Buffer;
}

/** A receiver that listens on loopback. */
export interface Receiver {
  url: string;
  /** Waits for the first delivery of an event type. Rejects after `withinMs`. */
  first(eventType: string, withinMs: number): Promise<Delivery>;
  close(): void;
}

/** Starts a receiver on a free port. */
export async function startReceiver(): Promise<Receiver> {
  const deliveries: Delivery[] = [];
  let onArrival = () => {};
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      deliveries.push({ headers: request.headers, body: Buffer.concat(chunks) });
      response.writeHead(204).end();
      onArrival();
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // a TCP server's address is an object once it listens
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/hooks`,
    first(eventType, withinMs) {
      return new Promise((resolve, reject) => {
        const limit = setTimeout(
          () => reject(new Error(`No ${eventType} arrived within ${withinMs} ms`)),
          withinMs,
        );
        onArrival = () => {
          const found = deliveries.find(({ headers }) => headers['x-service-event'] === eventType);
          if (!found) return;
          clearTimeout(limit);
          resolve(found);
        };
        onArrival();
      });
    },
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}

/**
 * Verifies `X-Service-Signature` over the raw body. During a rotation it contains two signatures; one must be
 * valid.
 */
export function isSigned({ headers, body }: Delivery, secret: string): boolean {
  const expected = `sha256=${createHmac('sha256', secret).update(body).digest('hex')}`;
  return parseSignatures(headers['x-service-signature'], ',').some((signature) =>
    isEqual(signature, expected),
  );
}

/** Verifies the Standard Webhooks headers. They must be at most five minutes old, which prevents replays. */
export function isStandardSigned({ headers, body }: Delivery, secret: string, nowSeconds: number): boolean {
  const { 'webhook-id': id, 'webhook-timestamp': timestamp, 'webhook-signature': signatures } = headers;
  if (Math.abs(nowSeconds - Number(timestamp)) > 300) return false;
  const key = Buffer.from(secret.replace(/^whsec_/, ''), 'base64');
  const expected = `v1,${createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest('base64')}`;
  return parseSignatures(signatures, ' ').some((signature) => isEqual(signature, expected));
}

function parseSignatures(header: string | string[] | undefined, separator: string): string[] {
  return String(header ?? '').split(separator);
}

function isEqual(a: string, b: string): boolean {
  return a.length === b.length && timingSafeEqual(Buffer.from(a), Buffer.from(b));
}

/**
 * A webhook receiver on loopback. It answers at once or never, and records each delivery and the age of its
 * event.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** A received delivery. */
export interface Arrival {
  /** Time of arrival, as returned by `performance.now()`. */
  at: number;
  /** Age of its event on arrival, ms. */
  ageMs: number;
}

/** A running receiver. */
export interface Receiver {
  /** Returns a URL that answers 204 at once. */
  healthyUrl(name: string): string;
  /** Returns a URL that never answers. */
  hangingUrl(name: string): string;
  /** Deliveries to healthy URLs since the last `clear`. */
  arrivals: Arrival[];
  clear(): void;
  /** Resolves after `count` arrivals. Rejects after one minute without an arrival. */
  waitFor(count: number): Promise<void>;
  close(): Promise<void>;
}

const idleTimeoutMs = 60_000;

/** Starts a receiver. */
export async function startReceiver(): Promise<Receiver> {
  const arrivals: Arrival[] = [];
  const server = createServer((request, response) => {
    const [at, now] = [performance.now(), Date.now()];
    const parts: Buffer[] = [];
    request.on('data', (part: Buffer) => parts.push(part));
    request.on('end', () => {
      if (request.url?.startsWith('/hanging')) return;
      response.writeHead(204).end();
      const { timestamp } = JSON.parse(Buffer.concat(parts).toString());
      arrivals.push({ at, ageMs: now - Date.parse(timestamp) });
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  // a TCP server's address is an object once it listens
  const { port } = server.address() as AddressInfo;
  return {
    healthyUrl: (name) => `http://127.0.0.1:${port}/healthy/${name}`,
    hangingUrl: (name) => `http://127.0.0.1:${port}/hanging/${name}`,
    arrivals,
    clear: () => {
      arrivals.length = 0;
    },
    async waitFor(count) {
      let before = 0;
      let lastAt = performance.now();
      while (arrivals.length < count) {
        if (arrivals.length > before) [before, lastAt] = [arrivals.length, performance.now()];
        if (performance.now() - lastAt > idleTimeoutMs)
          throw new Error(`Only ${arrivals.length} of ${count} deliveries arrived`);
        await pause(10);
      }
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

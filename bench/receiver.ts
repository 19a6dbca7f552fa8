/** Receivers of webhooks on loopback: they answer at once or never, and remember when each delivery came and how old its event was. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';

/** One delivery. */
export interface Arrival {
  /** When its request came, on the clock of `performance`. */
  at: number;
  /** How long before that its event was said, ms. */
  ageMs: number;
}

/** A running receiver. */
export interface Receiver {
  /** An address that answers 204 at once. */
  healthy(name: string): string;
  /** An address that never answers. */
  hanging(name: string): string;
  /** What came to healthy addresses since the last `forget`. */
  arrivals: Arrival[];
  forget(): void;
  /** Resolves when so many have come; rejects after a minute without any. */
  came(count: number): Promise<void>;
  close(): Promise<void>;
}

const patienceMs = 60_000;

/** Starts a receiver. */
export async function receiver(): Promise<Receiver> {
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
    healthy: (name) => `http://127.0.0.1:${port}/healthy/${name}`,
    hanging: (name) => `http://127.0.0.1:${port}/hanging/${name}`,
    arrivals,
    forget: () => {
      arrivals.length = 0;
    },
    async came(count) {
      let before = 0;
      let lastAt = performance.now();
      while (arrivals.length < count) {
        if (arrivals.length > before) [before, lastAt] = [arrivals.length, performance.now()];
        if (performance.now() - lastAt > patienceMs)
          throw new Error(`${arrivals.length} of ${count} deliveries came`);
        await pause(10);
      }
    },
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

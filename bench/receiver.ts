/** The receiver of the webhook limits: answers at once or never, and records the age of each event on arrival. */
import { setTimeout as pause } from 'node:timers/promises';
import { webhookReceiver } from '#libs/testing';

/** A received delivery. */
export interface Arrival {
  /** Time of arrival, Unix ms. */
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

/** Starts a receiver. It does not keep the requests, because there are too many. */
export async function startReceiver(): Promise<Receiver> {
  const arrivals: Arrival[] = [];
  const never = new Promise<number>(() => {});
  const { urlFor, close } = await webhookReceiver(
    ({ path, body, at }) => {
      if (path.startsWith('/hanging')) return never;
      arrivals.push({ at, ageMs: at - Date.parse(JSON.parse(body).timestamp) });
      return 204;
    },
    { isRecording: false },
  );
  return {
    healthyUrl: (name) => urlFor(`healthy/${name}`),
    hangingUrl: (name) => urlFor(`hanging/${name}`),
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
    close,
  };
}

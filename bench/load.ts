/** The load: a fixed number of requests over a fixed number of kept connections, each answer checked for its status. */
import { Pool } from 'undici';

/** How many connections ask at the same time, unless a row says otherwise. */
export const usualConnections = 32;

const mostConnections = 128;

const batchLimitMs = 120_000;

/** One request. */
export interface Asked {
  method: 'GET' | 'POST' | 'PATCH';
  path: string;
  /** Sent as JSON. */
  body?: unknown;
  key?: string;
  idempotencyKey?: string;
  /** The status that is right; any success unless said. */
  status?: number;
}

/** What a load was like. */
export interface Loaded {
  /** What 50 of 100 requests did not take longer than, ms. */
  p50Ms: number;
  /** What 99 of 100 requests did not take longer than, ms. */
  p99Ms: number;
}

/** A source of requests: the i-th of a batch. */
export type Requests = (i: number) => Asked;

/** Connections to one program. */
export interface Client {
  /** Asks once; rejects on a wrong status. */
  ask(asked: Asked): Promise<string>;
  /** Asks `count` requests and resolves when all are answered; rejects on a wrong status, and after two minutes. */
  load(count: number, requests: Requests, connections?: number): Promise<Loaded>;
  close(): Promise<void>;
}

/** Opens connections to a program. */
export function client(origin: string): Client {
  const pool = new Pool(origin, {
    connections: mostConnections,
    pipelining: 1,
    keepAliveTimeout: 60_000,
  });
  const asked = async ({ method, path, body, key, idempotencyKey, status }: Asked) => {
    const response = await pool.request({
      method,
      path,
      headers: {
        ...(key && { authorization: `Bearer ${key}` }),
        ...(idempotencyKey && { 'idempotency-key': idempotencyKey }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      body: body === undefined ? null : JSON.stringify(body),
    });
    const bytes = Buffer.from(await response.body.arrayBuffer());
    const isRight = status === undefined ? response.statusCode < 300 : response.statusCode === status;
    if (!isRight)
      throw new Error(`${method} ${path} answered ${response.statusCode}: ${bytes.toString().slice(0, 300)}`);
    return bytes;
  };
  return {
    ask: async (one) => (await asked(one)).toString(),
    async load(count, requests, connections = usualConnections) {
      const tookMs: number[] = [];
      const limit = performance.now() + batchLimitMs;
      let next = 0;
      const connection = async () => {
        while (next < count) {
          if (performance.now() > limit) throw new Error(`A batch took more than ${batchLimitMs} ms`);
          const i = next;
          next += 1;
          const startedAt = performance.now();
          await asked(requests(i));
          tookMs.push(performance.now() - startedAt);
        }
      };
      await Promise.all(Array.from({ length: connections }, connection));
      tookMs.sort((a, b) => a - b);
      const percentile = (share: number) => tookMs[Math.ceil(tookMs.length * share) - 1] ?? Number.NaN;
      return { p50Ms: percentile(0.5), p99Ms: percentile(0.99) };
    },
    close: () => pool.destroy(),
  };
}

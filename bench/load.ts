/** Generates load: a fixed number of requests over persistent connections, with a check of each status. */
import { Pool } from 'undici';

/** Number of concurrent connections, unless a row has another number. */
export const defaultConnections = 32;

const maxConnections = 128;

const batchTimeoutMs = 120_000;

/** A request. */
export interface BenchRequest {
  method: 'GET' | 'POST' | 'PATCH';
  path: string;
  /** Sent as JSON. */
  body?: unknown;
  /** Sent as the fields of a form, instead of a body. */
  form?: Record<string, string>;
  key?: string;
  /** Sent as Basic authentication. */
  password?: string | undefined;
  idempotencyKey?: string;
  /** Expected status; default: any 2xx. */
  status?: number;
}

/** Latencies of a batch. */
export interface Latencies {
  p50Ms: number;
  p99Ms: number;
}

/** Returns the i-th request of a batch. */
export type RequestSource = (i: number) => BenchRequest;

/** HTTP client of one process. */
export interface Client {
  /** Sends one request and returns the body. Rejects if the status is not the expected one. */
  send(send: BenchRequest): Promise<string>;
  /** Sends `count` requests. Rejects if a status is not the expected one, and after two minutes. */
  load(count: number, requests: RequestSource, connections?: number): Promise<Latencies>;
  close(): Promise<void>;
}

/** Creates a client of the process at `origin`. */
export function createClient(origin: string): Client {
  const pool = new Pool(origin, {
    connections: maxConnections,
    pipelining: 1,
    keepAliveTimeout: 60_000,
  });
  const send = async (request: BenchRequest) => {
    const { method, path, body, form, key, password, idempotencyKey, status } = request;
    const response = await pool.request({
      method,
      path,
      headers: {
        ...(key && { authorization: `Bearer ${key}` }),
        ...(password && { authorization: `Basic ${Buffer.from(`:${password}`).toString('base64')}` }),
        ...(idempotencyKey && { 'idempotency-key': idempotencyKey }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(form && { 'content-type': 'application/x-www-form-urlencoded' }),
      },
      body: form ? new URLSearchParams(form).toString() : body === undefined ? null : JSON.stringify(body),
    });
    const bytes = Buffer.from(await response.body.arrayBuffer());
    const isRight = status === undefined ? response.statusCode < 300 : response.statusCode === status;
    if (!isRight)
      throw new Error(`${method} ${path} answered ${response.statusCode}: ${bytes.toString().slice(0, 300)}`);
    return bytes;
  };
  return {
    send: async (request) => (await send(request)).toString(),
    async load(count, requests, connections = defaultConnections) {
      const durationsMs: number[] = [];
      const deadline = performance.now() + batchTimeoutMs;
      let next = 0;
      const connection = async () => {
        while (next < count) {
          if (performance.now() > deadline) throw new Error(`A batch took more than ${batchTimeoutMs} ms`);
          const i = next;
          next += 1;
          const startedAt = performance.now();
          await send(requests(i));
          durationsMs.push(performance.now() - startedAt);
        }
      };
      await Promise.all(Array.from({ length: connections }, connection));
      durationsMs.sort((a, b) => a - b);
      const percentile = (share: number) =>
        durationsMs[Math.ceil(durationsMs.length * share) - 1] ?? Number.NaN;
      return { p50Ms: percentile(0.5), p99Ms: percentile(0.99) };
    },
    close: () => pool.destroy(),
  };
}

/** The load: a fixed number of requests over a fixed number of kept connections, each answer checked for its status. */
import { Pool } from 'undici';

/** How many connections ask at the same time. */
export const connections = 32;

const batchLimitMs = 120_000;

/** One request. */
export interface Asked {
  method: 'GET' | 'POST';
  path: string;
  /** Sent as JSON. */
  body?: unknown;
  key?: string;
}

/** A source of requests: the i-th of a batch. */
export type Requests = (i: number) => Asked;

/** Connections to one program. */
export interface Client {
  /** Asks once; rejects on anything but success. */
  ask(asked: Asked): Promise<string>;
  /** Asks `count` requests and resolves when all are answered; rejects on anything but success, and after two minutes. */
  load(count: number, requests: Requests): Promise<void>;
  close(): Promise<void>;
}

/** Opens connections to a program. */
export function client(origin: string): Client {
  const pool = new Pool(origin, { connections, pipelining: 1, keepAliveTimeout: 60_000 });
  const asked = async ({ method, path, body, key }: Asked) => {
    const response = await pool.request({
      method,
      path,
      headers: {
        ...(key && { authorization: `Bearer ${key}` }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      body: body === undefined ? null : JSON.stringify(body),
    });
    const bytes = Buffer.from(await response.body.arrayBuffer());
    if (response.statusCode >= 300)
      throw new Error(`${method} ${path} answered ${response.statusCode}: ${bytes.toString().slice(0, 300)}`);
    return bytes;
  };
  return {
    ask: async (one) => (await asked(one)).toString(),
    async load(count, requests) {
      const limit = performance.now() + batchLimitMs;
      let next = 0;
      const connection = async () => {
        while (next < count) {
          if (performance.now() > limit) throw new Error(`A batch took more than ${batchLimitMs} ms`);
          const i = next;
          next += 1;
          await asked(requests(i));
        }
      };
      await Promise.all(Array.from({ length: connections }, connection));
    },
    close: () => pool.destroy(),
  };
}

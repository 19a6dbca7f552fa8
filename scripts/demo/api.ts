/** A small client of the API: one call, one answer, a readable error. */
import { randomUUID } from 'node:crypto';

/** Calls the API; JSON answers are parsed, others are bytes. */
export type Api = (method: string, path: string, body?: unknown) => Promise<Answer>;

export interface Answer {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: the demo reads answers of many shapes; a wrong one fails its step
  json: any;
  bytes: Uint8Array;
}

/** A client of the API at `base`, with a bearer token if there is one. Rejects on anything but success. */
export function client(base: string, token?: string): Api {
  return async (method, path, body) => {
    const asIs = body === undefined || body instanceof FormData;
    const response = await fetch(/^https?:/.test(path) ? path : base + path, {
      method,
      headers: {
        // repeats of a request that was lost on its way have one effect
        ...(method === 'POST' && { 'idempotency-key': randomUUID() }),
        ...(token && { authorization: `Bearer ${token}` }),
        ...(!asIs && { 'content-type': 'application/json' }),
      },
      body: asIs ? (body ?? null) : JSON.stringify(body),
    });
    const bytes = new Uint8Array(await response.arrayBuffer());
    const isJson = /[/+]json/.test(response.headers.get('content-type') ?? '');
    const json: unknown = isJson ? JSON.parse(new TextDecoder().decode(bytes)) : undefined;
    if (!response.ok)
      throw new Error(
        `${method} ${path} answered ${response.status}: ${new TextDecoder().decode(bytes).slice(0, 500)}`,
      );
    return { status: response.status, headers: response.headers, json, bytes };
  };
}

/** A small client of the API with readable errors. */
import { randomUUID } from 'node:crypto';

/** Calls the API. JSON responses are parsed; all responses contain their bytes. */
export type Api = (method: string, path: string, body?: unknown) => Promise<ApiResponse>;

export interface ApiResponse {
  status: number;
  headers: Headers;
  // biome-ignore lint/suspicious/noExplicitAny: the demo reads responses of any shape; an unexpected one fails its step
  json: any;
  bytes: Uint8Array;
}

/** Creates a client of the API at `base`, with an optional bearer token. Rejects on any status but 2xx. */
export function client(base: string, token?: string): Api {
  return async (method, path, body) => {
    const isRaw = body === undefined || body instanceof FormData;
    const response = await fetch(/^https?:/.test(path) ? path : base + path, {
      method,
      headers: {
        // a repeated request has no second effect
        ...(method === 'POST' && { 'idempotency-key': randomUUID() }),
        ...(token && { authorization: `Bearer ${token}` }),
        ...(!isRaw && { 'content-type': 'application/json' }),
      },
      body: isRaw ? (body ?? null) : JSON.stringify(body),
    });
    const bytes = new Uint8Array(await response.arrayBuffer());
    const isJson = /[/+]json/.test(response.headers.get('content-type') ?? '');
    const json: unknown = isJson ? JSON.parse(new TextDecoder().decode(bytes)) : undefined;
    if (!response.ok)
      throw new Error(
        `${method} ${path} returned ${response.status}: ${new TextDecoder().decode(bytes).slice(0, 500)}`,
      );
    return { status: response.status, headers: response.headers, json, bytes };
  };
}

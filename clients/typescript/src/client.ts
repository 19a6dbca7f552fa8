/** The client of the API: one method for each operation of the contract. */
import { operationTable } from './generated/operations.ts';
import type {
  AllCallOptions,
  ApiResponse,
  DataMethods,
  ListMethods,
  NotModified,
  OperationId,
  ResponseMethods,
} from './operation-types.ts';
import { listPages } from './pages.ts';
import { type AnyInput, buildRequest, type OperationFacts, toBase } from './requests.ts';
import { send } from './send.ts';

/** Options of a client. */
export interface ClientOptions {
  /** The address of the service, such as `https://sop.example.com`, with or without `/api/v1`. */
  url: string;
  /** The API key or access token, or a function that returns the current one before each call. */
  key?: string | (() => string | Promise<string>) | undefined;
  /** The longest time of one attempt in ms; `Infinity` for none. Default: 60,000. */
  timeoutMs?: number;
  /** The most repetitions of a request. Default: 3. */
  retries?: number;
  /** The longest wait before a repetition in ms. If the service asks for more, the call fails. Default: 30,000. */
  maxRetryDelayMs?: number;
  /** Ends all calls of the client. */
  signal?: AbortSignal;
  /** Sends the requests. Default: the global `fetch`. */
  fetch?: typeof globalThis.fetch;
}

/** A client. Its methods have the ids of the operations and return their data. */
export interface Client extends DataMethods {
  /** The same methods; they return the data with the ETag, the request id and the headers. */
  readonly withResponse: ResponseMethods;
  /** Iterates over all items of a list. Reads each page when it is needed. */
  readonly iterate: ListMethods<'items'>;
  /** Iterates over the pages of a list. */
  readonly pages: ListMethods<'pages'>;
}

/** Calls an operation by its id. */
export type Call = (
  id: OperationId,
  input?: AnyInput,
  options?: AllCallOptions,
) => Promise<ApiResponse<unknown> | NotModified>;

/** Creates a client. Throws a `TypeError` if the URL is not valid. Sends nothing. */
export function createClient({ url, key, ...settings }: ClientOptions): Client {
  const base = toBase(url);
  const call: Call = async (id, input = {}, options = {}) => {
    const facts: OperationFacts = operationTable[id];
    const operation = facts.hasCsv && input.format === 'csv' ? { ...facts, returns: 'file' as const } : facts;
    const signal = combine(settings.signal, options.signal);
    signal?.throwIfAborted();
    const getKey = () => (typeof key === 'function' ? unlessAborted(key(), signal) : key);
    const credential = operation.isPublic ? undefined : await getKey();
    const request = buildRequest(base, operation, input, { ...options, key: credential });
    return send(request, operation, {
      fetch: settings.fetch ?? globalThis.fetch,
      retries: settings.retries ?? 3,
      maxRetryDelayMs: settings.maxRetryDelayMs ?? 30_000,
      timeoutMs: options.timeoutMs ?? settings.timeoutMs ?? 60_000,
      signal,
    });
  };
  // the methods have the types of the contract, which the table does not contain
  const createMethods = <Methods>(create: (id: OperationId) => unknown) =>
    Object.fromEntries(operationIds.map((id) => [id, create(id)])) as Methods;
  return {
    ...createMethods<DataMethods>(
      (id) => async (input?: AnyInput, options?: AllCallOptions) => (await call(id, input, options)).data,
    ),
    withResponse: createMethods(
      (id) => (input?: AnyInput, options?: AllCallOptions) => call(id, input, options),
    ),
    iterate: createMethods(
      (id) =>
        async function* (input?: AnyInput, options?: AllCallOptions) {
          for await (const page of listPages(call, id, input, options)) yield* page;
        },
    ),
    pages: createMethods(
      (id) => (input?: AnyInput, options?: AllCallOptions) => listPages(call, id, input, options),
    ),
  };
}

function combine(a: AbortSignal | undefined, b: AbortSignal | undefined): AbortSignal | undefined {
  return a && b ? AbortSignal.any([a, b]) : (a ?? b);
}

/** Resolves with the value, or rejects with the reason of the signal if that is aborted first. */
async function unlessAborted<T>(value: T | Promise<T>, signal: AbortSignal | undefined): Promise<T> {
  if (!signal) return value;
  let end = () => {};
  const aborted = new Promise<never>((_, reject) => {
    end = () => reject(signal.reason);
    signal.addEventListener('abort', end, { once: true });
    if (signal.aborted) end();
  });
  try {
    return await Promise.race([value, aborted]);
  } finally {
    signal.removeEventListener('abort', end);
  }
}

const operationIds = Object.keys(operationTable) as OperationId[];

/** Builds the request of an operation from its parameters and body. */
import type { FileContent } from './file-content.ts';
import type { AllCallOptions } from './operation-types.ts';

/** How to send an operation, from the generated table. */
export interface OperationFacts {
  method: string;
  /** With `{name}` for its parameters. */
  path: string;
  body: 'json' | 'form' | 'none';
  returns: 'json' | 'file' | 'nothing';
  takesIdempotencyKey?: boolean;
  isPaged?: boolean;
  /** Whether it returns a file for the parameter `format` with the value `csv`. */
  hasCsv?: boolean;
  /** Whether the file that it returns is a page. */
  isHtml?: boolean;
  /** Whether it takes no key. */
  isPublic?: boolean;
  /** Whether it takes the password of a public link. */
  takesPassword?: boolean;
}

/** The parameters of an operation, and its `body`. */
export type AnyInput = Readonly<Record<string, unknown>>;

/** A request that can be sent more than once. */
export interface BuiltRequest {
  url: string;
  method: string;
  headers: Headers;
  body: string | FormData | null;
  /** Whether the request has the same effect if it is sent twice, so that it can be repeated without a response. */
  isRepeatable: boolean;
}

/**
 * The address without a trailing `/` and without `/api/v1`. Throws a `TypeError` unless it is an http or
 * https URL without a user name or password.
 */
export function toBase(url: string): string {
  if (url === undefined || url === null)
    throw new TypeError('`url` is missing. Use one such as https://sop.example.com.');
  const parsed = parseUrl(url);
  if (!parsed || !/^https?:$/.test(parsed.protocol) || parsed.username + parsed.password !== '')
    // without a user name and password, also those of a text that is no URL
    throw new TypeError(
      `"${url.replace(/^(\w+:\/\/)?.*@/s, '$1')}" is not the URL of a service. Use one such as https://sop.example.com.`,
    );
  return (parsed.origin + parsed.pathname).replace(/\/+$/, '').replace(/\/api\/v1$/, '');
}

/** A value that no request can have. */
export class RequestValueError extends TypeError {}

/**
 * Builds a request. Throws a `RequestValueError` if a parameter of the path is missing, `.` or `..`, or if the key or
 * another value is empty or cannot be that of a header.
 */
export function buildRequest(
  base: string,
  { method, path, body: bodyKind, returns, takesIdempotencyKey, takesPassword }: OperationFacts,
  { body, ...parameters }: AnyInput,
  { key, password, idempotencyKey, ifMatch, ifNoneMatch }: AllCallOptions & { key?: string | undefined },
): BuiltRequest {
  const url = new URL(base + fillPath(path, parameters));
  const inPath = new Set([...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name));
  for (const [name, value] of Object.entries(parameters))
    if (!inPath.has(name))
      for (const one of Array.isArray(value) ? value : [value])
        if (one !== undefined)
          url.searchParams.append(name, one instanceof Date ? one.toISOString() : String(one));
  const headers = new Headers({ accept: returns === 'file' ? '*/*' : 'application/json' });
  if (key?.trim() === '')
    throw new RequestValueError('The key is empty. Leave it out for operations that need none.');
  setHeader(headers, 'authorization', key === undefined ? undefined : `Bearer ${key}`);
  if (takesPassword && password !== undefined) setHeader(headers, 'authorization', toBasic(password));
  setHeader(headers, 'if-match', ifMatch);
  setHeader(headers, 'if-none-match', ifNoneMatch);
  if (takesIdempotencyKey) setHeader(headers, 'idempotency-key', idempotencyKey ?? createIdempotencyKey());
  const isJson = bodyKind === 'json' && body !== undefined;
  if (isJson) headers.set('content-type', 'application/json');
  return {
    url: url.href,
    method,
    headers,
    body: isJson ? JSON.stringify(body) : bodyKind === 'form' ? toForm(body) : null,
    isRepeatable:
      method === 'GET' ||
      takesIdempotencyKey === true ||
      // a repeated request would fail with 412, although the first one may have worked
      ((method === 'PUT' || method === 'DELETE') && ifMatch === undefined),
  };
}

function parseUrl(url: string): URL | null {
  try {
    return new URL(url);
  } catch {
    return null;
  }
}

function fillPath(path: string, parameters: AnyInput): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => {
    const value = parameters[name];
    // without this check, an empty id would address the list
    if (value === undefined || value === null || value === '')
      throw new RequestValueError(`${name} is missing.`);
    const text = String(value);
    // a URL resolves these as folders, also if they are encoded
    if (text === '.' || text === '..') throw new RequestValueError(`${name} must not be "${text}".`);
    try {
      return encodeURIComponent(text);
    } catch {
      throw new RequestValueError(`${name} has half a surrogate pair, which a URL cannot contain.`);
    }
  });
}

/** Sets a header if it has a value. The error of `Headers` would contain the value, which may be a key. */
function setHeader(headers: Headers, name: string, value: string | undefined): void {
  if (value === undefined) return;
  // `Headers` removes spaces and line breaks at the ends
  if (!/^[\x20-\x7e]+$/.test(value.trim()))
    throw new RequestValueError(
      `The value of the header ${name} is empty or has characters that a header cannot have.`,
    );
  headers.set(name, value);
}

/** The header of Basic authentication without a user name (RFC 7617). */
function toBasic(password: string): string {
  const bytes = new TextEncoder().encode(`:${password}`);
  return `Basic ${btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''))}`;
}

/** Not `randomUUID`, which browsers have only on secure pages. */
function createIdempotencyKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}

function toForm(fields: unknown): FormData {
  const form = new FormData();
  for (const [name, value] of Object.entries(fields ?? {})) {
    if (value === undefined || value === null) continue;
    if (isFileContent(value))
      form.append(name, value instanceof Blob ? value : new Blob([new Uint8Array(value)]));
    else form.append(name, String(value));
  }
  return form;
}

function isFileContent(value: unknown): value is FileContent {
  return value instanceof Blob || value instanceof Uint8Array || value instanceof ArrayBuffer;
}

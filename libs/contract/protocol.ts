/**
 * What the protocol adds to every operation: standard request headers, and problems found before a handler
 * runs.
 */
import type { AnyOperation } from './contract.ts';
import type { ProblemKind } from './problem.ts';
import * as shared from './problems.ts';

/** Whether the operation accepts an `Idempotency-Key`: every authenticated POST does. */
export function acceptsIdempotencyKey({ method, access }: AnyOperation): boolean {
  return method === 'post' && access.authenticated;
}

/** Whether the operation returns 304 if `If-None-Match` contains the current ETag. */
export function hasEtag({ method, etag }: AnyOperation): boolean {
  return method === 'get' && etag === true;
}

/**
 * Returns the `Cache-Control` of successful responses. No cache stores a response unless the operation says
 * otherwise, so that none keeps a secret. What the operation says does not apply to a private response.
 */
export function getCacheControl(operation: AnyOperation, { isPrivate = false } = {}): string {
  if (operation.cacheControl !== undefined && !isPrivate) return operation.cacheControl;
  return hasEtag(operation) ? 'private, no-cache' : 'no-store';
}

/** Whether the operation compares `If-Match` with the ETag of the resource it changes. */
export function isConditional(operation: AnyOperation): boolean {
  return getProblems(operation).includes(shared.PreconditionFailed);
}

/** A header that a client may send. */
export interface RequestHeader {
  name: string;
  description: string;
  /** Source of a regular expression that every valid value matches. */
  pattern?: string;
}

/** Returns the optional request headers that an operation supports. */
export function requestHeaders(operation: AnyOperation): RequestHeader[] {
  const headers: RequestHeader[] = [];
  if (acceptsIdempotencyKey(operation)) headers.push(idempotencyKey);
  if (hasEtag(operation)) headers.push(ifNoneMatch);
  if (isConditional(operation)) headers.push(ifMatch);
  return headers;
}

/** The source of the regular expression of an `Idempotency-Key`: printable ASCII characters without spaces. */
export const idempotencyKeyPattern = '^[\\x21-\\x7e]{1,255}$';

const entityTag = '(?:W/)?"[^"]*"';

/** The source of the regular expression of `If-Match`: `*`, or a list of quoted ETags (RFC 9110, section 13). */
export const ifMatchPattern = `^(?:\\s*\\*\\s*|[\\s,]*${entityTag}\\s*(?:,\\s*(?:${entityTag}\\s*)?)*)$`;

const idempotencyKey = {
  name: 'Idempotency-Key',
  description:
    'Makes a retry safe: the same key and body within 24 hours return the first response and have no second effect',
  pattern: idempotencyKeyPattern,
};
const ifNoneMatch = {
  name: 'If-None-Match',
  description: 'ETags that you already have. The response is 304 if one of them is current',
};
const ifMatch = {
  name: 'If-Match',
  description:
    'Quoted ETags, or `*`. The response is 412 if none of them is current and 400 if they are not quoted. A weak ETag (`W/"…"`) matches like a strong one',
  pattern: ifMatchPattern,
};

/** Returns every problem that an operation can respond with: its own and those of the protocol. */
export function getProblems(operation: AnyOperation): ProblemKind[] {
  const accessProblems = operation.access.problems ?? [];
  const kinds = [
    ...operation.problems,
    ...accessProblems,
    shared.HeadersTooLarge,
    shared.TooManyRequests,
    shared.Internal,
    shared.Unavailable,
  ];
  if (operation.method !== 'get') kinds.push(shared.OutcomeUnknown);
  if (operation.params) kinds.push(shared.NotFound);
  if (operation.access.authenticated) kinds.push(shared.Unauthenticated);
  // below the API prefix every operation rejects unknown query parameters
  if (operation.at !== 'root' || operation.query || operation.body || acceptsIdempotencyKey(operation))
    kinds.push(shared.InvalidRequest);
  if (operation.body) kinds.push(shared.PayloadTooLarge);
  if (operation.body) kinds.push(...getBodyProblems(operation.body));
  if (acceptsIdempotencyKey(operation))
    kinds.push(shared.IdempotencyKeyReused, shared.IdempotencyKeyInFlight);
  // a resource that is being created has no ETag to compare with
  if (operation.etag && operation.method !== 'get' && operation.params) kinds.push(shared.PreconditionFailed);
  return [...new Set(kinds)];
}

function getBodyProblems(body: NonNullable<AnyOperation['body']>): ProblemKind[] {
  if ('file' in body) return [shared.MalformedMultipart];
  return 'form' in body ? [shared.UnsupportedMediaType] : [shared.MalformedJson, shared.UnsupportedMediaType];
}

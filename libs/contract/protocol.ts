/** What the protocol adds to an operation: problems that it makes before any handler runs, headers that mean the same everywhere. */
import type { AnyOperation } from './contract.ts';
import type { ProblemKind } from './problem.ts';
import * as shared from './problems.ts';

/** Whether the operation can be repeated safely with a key. */
export function acceptsIdempotencyKey({ method, access }: AnyOperation): boolean {
  return method === 'post' && access.authenticated;
}

/** Whether the operation answers 304 to who has what is there. */
export function hasEtag({ method, etag }: AnyOperation): boolean {
  return method === 'get' && etag === true;
}

/** Whether the operation compares `If-Match` with the ETag of what it changes. */
export function isConditional(operation: AnyOperation): boolean {
  return getProblems(operation).includes(shared.PreconditionFailed);
}

/** A header that a client may send. */
export interface RequestHeader {
  name: string;
  description: string;
  maxLength?: number;
}

/** The headers that mean something to an operation, beside those that every request has. */
export function requestHeaders(operation: AnyOperation): RequestHeader[] {
  const headers: RequestHeader[] = [];
  if (acceptsIdempotencyKey(operation)) headers.push(idempotencyKey);
  if (hasEtag(operation)) headers.push(ifNoneMatch);
  if (isConditional(operation)) headers.push(ifMatch);
  return headers;
}

const idempotencyKey = {
  name: 'Idempotency-Key',
  description: 'The same key and body within 24 hours give the first answer again; the effect happens once',
  maxLength: 255,
};
const ifNoneMatch = {
  name: 'If-None-Match',
  description: 'ETags of what you have: 304 when it is what is there',
};
const ifMatch = {
  name: 'If-Match',
  description:
    'ETags in quotes, or `*`: 412 when none of them is the current ETag, 400 when they are not quoted. A weak ETag (`W/"…"`) counts as the strong one',
};

/** Every problem that an operation can answer with: its own and those that the protocol makes. */
export function getProblems(operation: AnyOperation): ProblemKind[] {
  const accessProblems = operation.access.problems ?? [];
  const kinds = [
    ...operation.problems,
    ...accessProblems,
    shared.TooManyRequests,
    shared.Internal,
    shared.Unavailable,
  ];
  if (operation.params) kinds.push(shared.NotFound);
  if (operation.access.authenticated) kinds.push(shared.Unauthenticated);
  // below the API's prefix unknown query parameters are mistakes, of any operation
  if (operation.at !== 'root' || operation.query || operation.body || acceptsIdempotencyKey(operation))
    kinds.push(shared.InvalidRequest);
  if (operation.body) kinds.push(shared.PayloadTooLarge);
  if (operation.body)
    kinds.push(
      ...('file' in operation.body
        ? [shared.MalformedMultipart]
        : [shared.MalformedJson, shared.UnsupportedMediaType]),
    );
  if (acceptsIdempotencyKey(operation))
    kinds.push(shared.IdempotencyKeyReused, shared.IdempotencyKeyInFlight);
  // what is made has no state yet that could be another
  if (operation.etag && operation.method !== 'get' && operation.params) kinds.push(shared.PreconditionFailed);
  return [...new Set(kinds)];
}

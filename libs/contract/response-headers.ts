/** Response headers for the OpenAPI document. */
import type { AnyOperation } from './contract.ts';
import type { ProblemKind } from './problem.ts';
import { acceptsIdempotencyKey } from './protocol.ts';

interface HeaderObject {
  description: string;
  schema: { type: 'string' };
}

type Headers = Readonly<Record<string, HeaderObject | { $ref: string }>>;

/** The headers with the same meaning in every response, for `components/headers`. */
export const sharedHeaders = {
  'X-Request-Id': headerObject('Id of this request in the server logs'),
  ETag: headerObject('Current version of the resource'),
  'Idempotency-Replayed': headerObject(
    '`true` if this is the stored response to an earlier request with the same key',
  ),
  Link: headerObject('`<…>; rel="next"` if there is another page (RFC 8288)'),
  'Retry-After': headerObject('Seconds to wait before the next attempt'),
  'WWW-Authenticate': headerObject(
    '`Bearer`, with `error` and `error_description` if a credential was sent (RFC 6750); `Basic` if a password is missing or wrong (RFC 7617)',
  ),
  Accept: headerObject('The supported media type, if the media type of the body is not supported'),
  'Accept-Encoding': headerObject(
    'The supported content encodings, if the encoding of the body is not supported',
  ),
  'RateLimit-Policy': headerObject('Name of the limit, allowed requests (`q`) and window in seconds (`w`)'),
  RateLimit: headerObject('Remaining requests (`r`) and seconds until the next request is allowed (`t`)'),
};

/** Returns the headers of an operation's successful response. */
export function successHeaders(operation: AnyOperation): Headers {
  const { location, etag, paged, deprecated, status } = operation;
  return {
    ...refer('X-Request-Id'),
    ...(location && {
      Location: headerObject(`Path of the created resource: \`${location}\` below the API prefix`),
    }),
    ...(status === 303 && { Location: headerObject('What to read next with GET') }),
    ...(etag && refer('ETag')),
    ...(acceptsIdempotencyKey(operation) && refer('Idempotency-Replayed')),
    ...(paged && refer('Link')),
    ...(deprecated && {
      Deprecation: headerObject('`@` and the time of the deprecation in seconds since 1970 (RFC 9745)'),
    }),
    ...(deprecated?.sunset && {
      Sunset: headerObject('The time from which the operation may be gone (RFC 8594)'),
    }),
  };
}

/** Returns the headers of an error response: those of its status and those of its kinds of problems. */
export function failureHeaders(status: number, kinds: readonly ProblemKind[]): Headers {
  const isSent = (name: string) => kinds.some((kind) => name in kind.headers);
  return { ...(isSent('Retry-After') && refer('Retry-After')), ...headersByStatus[status] };
}

const headersByStatus: Readonly<Record<number, Headers>> = {
  401: refer('WWW-Authenticate'),
  415: refer('Accept', 'Accept-Encoding'),
  429: refer('Retry-After', 'RateLimit-Policy', 'RateLimit'),
  503: refer('Retry-After'),
};

function refer(...names: (keyof typeof sharedHeaders)[]): Headers {
  return Object.fromEntries(names.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}

function headerObject(description: string): HeaderObject {
  return { description, schema: { type: 'string' } };
}

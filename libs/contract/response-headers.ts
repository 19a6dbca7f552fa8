/** The headers of responses, as the OpenAPI document describes them. */
import type { AnyOperation } from './contract.ts';
import type { ProblemKind } from './problem.ts';
import { acceptsIdempotencyKey } from './protocol.ts';

interface HeaderObject {
  description: string;
  schema: { type: 'string' };
}

type Headers = Readonly<Record<string, HeaderObject>>;

/** The headers of an operation's success. */
export function successHeaders(operation: AnyOperation): Headers {
  const { location, etag, paged } = operation;
  return {
    'X-Request-Id': headerObject('The id of this request in our logs'),
    ...(location && {
      Location: headerObject(`Where it can be read: \`${location}\` below the prefix of the API`),
    }),
    ...(etag && { ETag: headerObject('The state of the document') }),
    ...(acceptsIdempotencyKey(operation) && {
      'Idempotency-Replayed': headerObject('`true` when this is the first answer to the key, given again'),
    }),
    ...(paged && { Link: headerObject('`<…>; rel="next"` while there is another page (RFC 8288)') }),
  };
}

/** The headers of a failure: those of its status, and those that its kinds of problems bring. */
export function failureHeaders(status: number, kinds: readonly ProblemKind[]): Headers {
  const isSent = (name: string) => kinds.some((kind) => name in kind.headers);
  return { ...(isSent('Retry-After') && retryAfter), ...headersByStatus[status] };
}

const retryAfter: Headers = { 'Retry-After': headerObject('Seconds to wait before the next attempt') };

const headersByStatus: Readonly<Record<number, Headers>> = {
  401: {
    'WWW-Authenticate': headerObject(
      '`Bearer`; with `error` and `error_description` when a credential was sent (RFC 6750)',
    ),
  },
  415: {
    Accept: headerObject('The media type that works, when the type of the body is wrong'),
    'Accept-Encoding': headerObject('The content encodings that work, when that of the body is unknown'),
  },
  429: {
    ...retryAfter,
    'RateLimit-Policy': headerObject(
      'The limit: its name, the requests (`q`) within a window of seconds (`w`)',
    ),
    RateLimit: headerObject(
      'What is left of the limit (`r`), and the seconds until the next request may come (`t`)',
    ),
  },
  503: retryAfter,
};

function headerObject(description: string): HeaderObject {
  return { description, schema: { type: 'string' } };
}

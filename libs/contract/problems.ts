/** The problems that every service shares, because the protocol makes them and not a rule of the business. */
import { problem } from './problem.ts';

export const InvalidRequest = problem(
  'invalid_request',
  400,
  'The request has mistakes; `errors` lists all of them.',
);
export const MalformedJson = problem('malformed_json', 400, 'The body is not well-formed JSON.');
export const MalformedMultipart = problem(
  'malformed_multipart',
  400,
  'The body is not a well-formed multipart/form-data message.',
);
export const IdempotencyKeyReused = problem(
  'idempotency_key_reused',
  400,
  'This Idempotency-Key was used with another body; use a new key for a new request.',
);
export const Unauthenticated = problem(
  'unauthenticated',
  401,
  'Send an access token or an API key as `Authorization: Bearer <token>`.',
);
export const Forbidden = problem('forbidden', 403, 'You may not do this in your organization.');
export const NotFound = problem('not_found', 404, 'There is no such thing here.');
export const MethodNotAllowed = problem(
  'method_not_allowed',
  405,
  'This path does not know that method; see `Allow`.',
);
export const IdempotencyKeyInFlight = problem(
  'idempotency_key_in_flight',
  409,
  'A request with this Idempotency-Key is still being handled; try again as `Retry-After` says.',
  { 'Retry-After': '1' },
);
export const PreconditionFailed = problem(
  'precondition_failed',
  412,
  'The document changed since you read it: read it again, then repeat the change with the new ETag.',
);
export const PayloadTooLarge = problem(
  'payload_too_large',
  413,
  'The body is larger than this operation allows.',
);
export const UnsupportedMediaType = problem(
  'unsupported_media_type',
  415,
  'Send the body in the media type that this operation takes; JSON in UTF-8.',
);
export const TooManyRequests = problem(
  'too_many_requests',
  429,
  'Too many requests; wait as `Retry-After` says.',
);
export const Internal = problem(
  'internal',
  500,
  'Something went wrong on our side; it has been logged with this request id.',
);
export const Unavailable = problem(
  'unavailable',
  503,
  'A part of the service cannot be reached right now; nothing was changed, try again as `Retry-After` says.',
);

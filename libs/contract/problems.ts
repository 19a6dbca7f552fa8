/** The problems that all services share. They come from the protocol, not from a business rule. */
import { problem } from './problem.ts';

export const InvalidRequest = problem(
  'invalid_request',
  400,
  'The request is invalid. `errors` lists every error.',
);
export const MalformedJson = problem('malformed_json', 400, 'The body is not valid JSON.');
export const MalformedMultipart = problem(
  'malformed_multipart',
  400,
  'The body is not a valid multipart/form-data message.',
);
export const IdempotencyKeyReused = problem(
  'idempotency_key_reused',
  400,
  'This Idempotency-Key was already used with a different body. Use a new key for a new request.',
);
export const Unauthenticated = problem(
  'unauthenticated',
  401,
  'Send an access token or an API key as `Authorization: Bearer <token>`.',
);
export const Forbidden = problem('forbidden', 403, 'You are not allowed to do this in your organization.');
export const NotFound = problem('not_found', 404, 'The resource was not found.');
export const MethodNotAllowed = problem(
  'method_not_allowed',
  405,
  'This method is not allowed for this path; see the `Allow` header.',
);
export const IdempotencyKeyInFlight = problem(
  'idempotency_key_in_flight',
  409,
  'A request with this Idempotency-Key is still in progress. Try again after the time in `Retry-After`.',
  { 'Retry-After': '1' },
);
export const PreconditionFailed = problem(
  'precondition_failed',
  412,
  'It changed since you read it. Read it again, then repeat the change with the new ETag.',
);
export const PayloadTooLarge = problem(
  'payload_too_large',
  413,
  'The body is larger than this operation allows.',
);
export const UnsupportedMediaType = problem(
  'unsupported_media_type',
  415,
  'The media type or encoding of the body is not supported. `detail` names the supported one.',
);
export const HeadersTooLarge = problem(
  'headers_too_large',
  431,
  'The headers of the request are too large. Send at most 16 KiB.',
);
export const TooManyRequests = problem(
  'too_many_requests',
  429,
  'Too many requests. Try again after the time in `Retry-After`.',
);
export const Internal = problem(
  'internal',
  500,
  'An internal error occurred. It was logged with the request id of this response.',
);
export const Unavailable = problem(
  'unavailable',
  503,
  'The service is temporarily unavailable. Nothing was changed. Try again after the time in `Retry-After`.',
);
export const OutcomeUnknown = problem(
  'outcome_unknown',
  503,
  'The database did not confirm the change, so it is unknown whether it was made. Read the resource before you repeat the request, or repeat it with the same `Idempotency-Key`.',
  { 'Retry-After': '2' },
);

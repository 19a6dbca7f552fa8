/**
 * Authenticates a request by its bearer token, and explains a rejected credential to the caller (RFC 6750).
 */
import type { Request } from 'express';
import { type Problem, RejectedToken, Unauthenticated } from '#libs/contract';
import type { Principal } from './handle.ts';

/**
 * Returns the principal of a bearer token. Returns `undefined` for an invalid token, and a `RejectedToken` if
 * the caller may know the reason. `address` is the client's IP address.
 */
export type Authenticate = (token: string, address: string) => Promise<Principal | RejectedToken | undefined>;

/**
 * Returns the principal of a request. Throws `Unauthenticated`, which says what credential is needed and why
 * this one was rejected. `address` is the client's IP address.
 */
export async function authenticateRequest(
  authenticate: Authenticate,
  request: Request,
  address: string,
): Promise<Principal> {
  const header = request.headers.authorization;
  if (header === undefined) throw Unauthenticated();
  const [, token] = /^bearer +(\S+)$/i.exec(header) ?? [];
  if (token === undefined) throw rejectCredential('invalid_request', malformedHeader);
  const principal = await authenticate(token, address);
  if (principal === undefined) throw rejectCredential('invalid_token', 'This credential is not valid.');
  if (principal instanceof RejectedToken) throw rejectCredential('invalid_token', principal.reason);
  return principal;
}

const malformedHeader = 'Send the header as Authorization: Bearer, one space, and one token or API key.';

function rejectCredential(error: 'invalid_request' | 'invalid_token', reason: string): Problem {
  const challenge = `Bearer error="${error}", error_description="${reason}"`;
  return Unauthenticated(reason, { headers: { 'WWW-Authenticate': challenge } });
}

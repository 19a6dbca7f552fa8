/** Reads the bearer token of a request, and tells the caller why it does not count (RFC 6750). */
import type { Request } from 'express';
import { type Problem, RejectedToken, Unauthenticated } from '#libs/contract';
import type { Principal } from './handle.ts';

/**
 * Finds out who a bearer token stands for; nothing is a token that is not valid, for no reason that may be
 * told.
 */
export type Authenticate = (token: string) => Promise<Principal | RejectedToken | undefined>;

/**
 * The principal of a request; throws `Unauthenticated`, which says which credential is needed and why this
 * one fails.
 */
export async function authenticateRequest(authenticate: Authenticate, request: Request): Promise<Principal> {
  const header = request.headers.authorization;
  if (header === undefined) throw Unauthenticated();
  const [, token] = /^bearer +(\S+)$/i.exec(header) ?? [];
  if (token === undefined) throw rejectCredential('invalid_request', malformed);
  const principal = await authenticate(token);
  if (principal === undefined) throw rejectCredential('invalid_token', 'This credential is not valid.');
  if (principal instanceof RejectedToken) throw rejectCredential('invalid_token', principal.reason);
  return principal;
}

const malformed = 'Send the header as Authorization: Bearer, one space, and one token or API key.';

function rejectCredential(error: 'invalid_request' | 'invalid_token', reason: string): Problem {
  const challenge = `Bearer error="${error}", error_description="${reason}"`;
  return Unauthenticated(reason, { headers: { 'WWW-Authenticate': challenge } });
}

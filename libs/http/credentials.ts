/**
 * Authenticates a request by its bearer token, and explains a rejected credential to the caller (RFC 6750). Reads
 * passwords (RFC 7617) and cookies.
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

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

/** Returns the password of a header `Basic …`. Undefined for another scheme, or without base64, UTF-8 or a colon. */
export function parseBasicPassword(header: string | undefined): string | undefined {
  const [, encoded] = /^basic +([A-Za-z0-9+/]+={0,2})$/i.exec(header ?? '') ?? [];
  if (encoded === undefined) return undefined;
  try {
    const text = utf8.decode(Buffer.from(encoded, 'base64'));
    const colon = text.indexOf(':');
    return colon === -1 ? undefined : text.slice(colon + 1);
  } catch {
    return undefined;
  }
}

/** Returns the values of all cookies with a name: a browser sends those of every matching path and domain. */
export function parseCookies(header: string | undefined, name: string): string[] {
  const start = `${name}=`;
  const cookies = (header ?? '').split(';').map((cookie) => cookie.trim());
  return cookies.filter((cookie) => cookie.startsWith(start)).map((cookie) => cookie.slice(start.length));
}

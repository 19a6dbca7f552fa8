/** Decides who may read a public link with a password: readers with a cookie, and programs that send the password. */
import { type Problem, rateLimitHeaders, TooManyRequests } from '#libs/contract';
import { pagePolicy } from '#libs/html-page';
import type { RequestInfo } from '#libs/http';
import { SharePasswordRequired } from '../contract.ts';
import { passwordStyleSource } from '../page/styles.ts';
import { protectedHeaders } from '../public-headers.ts';
import type { UsedUpLimit } from './attempts.ts';
import type { CheckPassword, ProtectedLink } from './check.ts';
import { cookieName, type LinkCookies } from './cookies.ts';

/** Details of the problems, by which their pages differ. */
export const wrongPassword = 'This is not the password of this link.';
export const tooManyPasswords =
  'Too many wrong passwords for this link. Wait for the time given in `Retry-After`.';

/** A request for a link with a password. */
export interface ProtectedRequest {
  link: ProtectedLink;
  /** The origins that may frame the page that asks for the password, as sources of `frame-ancestors`. */
  frames: string;
  call: Pick<RequestInfo, 'address' | 'basicPassword' | 'getCookies'>;
  /** The value of `WWW-Authenticate` in a 401. The default asks programs for Basic authentication. */
  challenge?: string;
}

/** A challenge of a scheme that browsers do not know, so they do not ask for a password in a dialog of their own. */
export const cookieChallenge = 'Cookie realm="public link"';

/** Access to links with a password. Both methods reject with the problem for the caller. */
export interface LinkAccess {
  /** Rejects unless the request has a cookie of the link or its password. */
  assertAccess(request: ProtectedRequest): Promise<void>;
  /** Rejects unless this is the password. Returns the value of `Set-Cookie` for the link at this path. */
  createCookie(request: ProtectedRequest, password: string, path: string): Promise<string>;
}

/** Creates the access. */
export function linkAccess({ check, cookies }: { check: CheckPassword; cookies: LinkCookies }): LinkAccess {
  const assertPassword = async (request: ProtectedRequest, password: string) => {
    const result = await check(request.link, password, request.call.address);
    if (result === 'wrong') throw passwordRequired(request, wrongPassword);
    if (result !== 'right') throw tooManyAttempts(result);
  };
  return {
    async assertAccess(request) {
      const { link, call } = request;
      if (cookies.isValid(link, call.getCookies(cookieName))) return;
      if (call.basicPassword === undefined) throw passwordRequired(request);
      await assertPassword(request, call.basicPassword);
    },
    async createCookie(request, password, path) {
      await assertPassword(request, password);
      return cookies.create(request.link, path);
    },
  };
}

const basicChallenge = 'Basic realm="public link", charset="UTF-8"';

/** The 401 for programs; its page has another challenge. Only this page has a form. */
function passwordRequired(
  { frames, challenge = basicChallenge }: ProtectedRequest,
  detail?: string,
): Problem {
  return SharePasswordRequired(detail, {
    headers: {
      ...protectedHeaders,
      'WWW-Authenticate': challenge,
      'Content-Security-Policy': pagePolicy(passwordStyleSource, frames, { formAction: "'self'" }),
    },
  });
}

function tooManyAttempts({ policy, waitSeconds }: UsedUpLimit): Problem {
  return TooManyRequests(tooManyPasswords, {
    headers: { ...protectedHeaders, ...rateLimitHeaders(policy, waitSeconds) },
  });
}

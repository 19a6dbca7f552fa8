/** The cookies of readers who entered the password of a public link. */
import type { Keyring } from '#libs/store';
import type { ProtectedLink } from './check.ts';

/** How long a reader need not enter the password again. */
const maxAgeSeconds = 12 * 60 * 60;

/** The name of the cookie. Each link has its own path. */
export const cookieName = 'pds_link';

/** Creates and verifies the cookies. */
export interface LinkCookies {
  /** The value of `Set-Cookie` for a reader of the link at this path of the public URL. */
  create(link: ProtectedLink, path: string): string;
  /** Whether one of the cookie values is for this link, with its current token and password, and not outdated. */
  isValid(link: ProtectedLink, values: readonly string[]): boolean;
}

/**
 * Creates the cookies with a derived keyring. A cookie is the time until which it is valid. It is sealed for the link:
 * for its token and for the hash of its password, whose salt is new with every password.
 */
export function linkCookies(keyring: Pick<Keyring, 'seal' | 'open'>, now: () => number): LinkCookies {
  const toContext = ({ hash, password_hash }: ProtectedLink) => `share_tokens/${hash}/${password_hash}`;
  const isValid = (link: ProtectedLink, value: string) => {
    try {
      return Number(keyring.open(value, toContext(link))) > now();
    } catch {
      return false;
    }
  };
  return {
    create(link, path) {
      const value = keyring.seal(String(now() + maxAgeSeconds * 1000), toContext(link));
      // a frame of another site needs `SameSite=None`; `Partitioned` binds the cookie to that site
      return `${cookieName}=${value}; Path=${path}; Max-Age=${maxAgeSeconds}; Secure; HttpOnly; SameSite=None; Partitioned`;
    },
    isValid: (link, values) => values.some((value) => isValid(link, value)),
  };
}

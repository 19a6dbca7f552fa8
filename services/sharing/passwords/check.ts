/** Checks passwords of public links within limits, and remembers the right ones for a minute. */
import { createHmac, createSecretKey } from 'node:crypto';
import { createBoundedCache } from '#libs/http';
import type { PasswordHasher } from '#libs/workers';
import type { PasswordAttempts, UsedUpLimit } from './attempts.ts';

/** A link with a password: the hash of its token and that of its password. */
export interface ProtectedLink {
  hash: string;
  password_hash: string;
}

/** Whether a password is right, or the limit that kept it from being checked. */
export type PasswordResult = 'right' | 'wrong' | UsedUpLimit;

/** Checks a password of a link for a client's IP address. Rejects with `Unavailable` if too many are being checked. */
export type CheckPassword = (
  link: ProtectedLink,
  password: string,
  address: string,
) => Promise<PasswordResult>;

/** Dependencies of the check; `now` is in milliseconds. */
export interface PasswordCheckOptions {
  passwords: Pick<PasswordHasher, 'verify'>;
  attempts: PasswordAttempts;
  /** The random key of the hashes under which right passwords are remembered: 32 bytes. */
  cacheKey: Uint8Array;
  now: () => number;
  /** Counts a password that was compared or that a limit kept from it. */
  count(labels: { result: 'right' | 'wrong' | 'limited' }): void;
}

/** How long a right password is remembered, in milliseconds. A hash takes a hundred times longer than a request. */
const rememberMs = 60_000;
const maxRemembered = 10_000;

/**
 * Creates the check. A password is remembered together with the link's token and the hash of its password, so that a
 * change of either ends it. Remembered passwords are not attempts.
 */
export function passwordCheck(options: PasswordCheckOptions): CheckPassword {
  const { passwords, attempts, now, count } = options;
  const cacheKey = createSecretKey(options.cacheKey);
  const verifiedAt = createBoundedCache<string, number>(maxRemembered);
  // a client that sends several requests at once has its password compared once
  const inFlight = new Map<string, Promise<PasswordResult>>();

  return async ({ hash, password_hash }, password, address) => {
    const parts = JSON.stringify([hash, password_hash, password.normalize('NFC')]);
    const key = createHmac('sha256', cacheKey).update(parts).digest('base64url');
    const at = verifiedAt.get(key);
    if (at !== undefined && now() - at < rememberMs) return 'right';
    return inFlight.get(key) ?? startCheck(key, { hash, password_hash }, password, address);
  };

  function startCheck(
    key: string,
    { hash, password_hash }: ProtectedLink,
    password: string,
    address: string,
  ): Promise<PasswordResult> {
    const refund = attempts.consume(hash, address);
    if (typeof refund !== 'function') {
      count({ result: 'limited' });
      return Promise.resolve(refund);
    }
    const compare = async (): Promise<PasswordResult> => {
      const isRight = await passwords.verify(password, password_hash).catch((error: unknown) => {
        refund();
        throw error;
      });
      count({ result: isRight ? 'right' : 'wrong' });
      if (!isRight) return 'wrong';
      refund();
      verifiedAt.set(key, now());
      return 'right';
    };
    const check = compare().finally(() => inFlight.delete(key));
    inFlight.set(key, check);
    return check;
  }
}

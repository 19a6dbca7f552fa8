/** Passwords: scrypt (RFC 7914) with 32 MiB of memory for each guess, a few at once beside everything else. */
import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { Unavailable } from '#libs/contract';
import { bulkhead } from '#libs/service';

const cost = { N: 2 ** 15, r: 8, p: 1, maxmem: 64 * 1024 * 1024 };
const length = 32;

/** How many hashes a process computes at once, and how many may wait for their turn: 50 unless said. */
export interface HashLimits {
  atOnce: number;
  waiting?: number;
}

/** Makes and checks what is stored in a password's place. Both are `Unavailable` when too many wait already. */
export interface Passwords {
  /** What is stored: `scrypt$salt$hash`, base64url. */
  hash(password: string): Promise<string>;
  /** Whether a password is the stored one; without a stored one it does the same work and says no. */
  isRight(password: string, stored: string | undefined): Promise<boolean>;
}

/**
 * Hashes off the main thread. The threads are few (libuv has four), and shared with name look-ups and compression: a
 * storm of logins waits for its own turns, and nobody else waits for it.
 */
export function passwordsWithin({ atOnce, waiting = 50 }: HashLimits): Passwords {
  const withinLimit = bulkhead({ maxConcurrent: atOnce, maxQueue: waiting, createError: tooMany });
  const derive = (password: string, salt: Uint8Array) => withinLimit(() => derived(password, salt));

  return {
    async hash(password) {
      const salt = randomBytes(16);
      const hash = await derive(password, salt);
      return `scrypt$${salt.toString('base64url')}$${hash.toString('base64url')}`;
    },

    async isRight(password, stored) {
      const [, salt = '', expected = ''] = (stored ?? `scrypt$$${'A'.repeat(43)}`).split('$');
      const hash = await derive(password, Buffer.from(salt, 'base64url'));
      const same = timingSafeEqual(hash, Buffer.from(expected, 'base64url'));
      return stored !== undefined && same;
    },
  };
}

function tooMany() {
  return Unavailable('Too many people are logging in at this moment: try again as `Retry-After` says.', {
    headers: { 'Retry-After': '3' },
  });
}

function derived(password: string, salt: Uint8Array): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(password.normalize('NFC'), salt, length, cost, (error, key) =>
      error ? reject(error) : resolve(key),
    );
  });
}

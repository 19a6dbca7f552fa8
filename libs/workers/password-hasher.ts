/** Hashes and verifies passwords with scrypt (RFC 7914), which takes 32 MiB of memory for each guess. */
import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';
import { Unavailable } from '#libs/contract';
import { bulkhead } from './bulkhead.ts';

/** Parameters of scrypt: `N` is a power of two; a hash takes `128 * N * r` bytes of memory. */
export interface ScryptCost {
  N: number;
  r: number;
}

const defaultCost: ScryptCost = { N: 2 ** 15, r: 8 };
const length = 32;
/** Limit of Node for the memory of one hash, bytes. */
const maxmem = 64 * 1024 * 1024;

/**
 * How many hashes a process computes at the same time, how many may wait (default 50), and the cost of each
 * (default 32 MiB; tests use less).
 */
export interface PasswordHasherOptions {
  concurrency: number;
  maxQueue?: number;
  cost?: ScryptCost | undefined;
}

/** Hashes and verifies passwords. Both methods reject with `Unavailable` when the queue is full. */
export interface PasswordHasher {
  /** The text to store: `scrypt$salt$hash`, base64url. */
  hash(password: string): Promise<string>;
  /**
   * Whether the password matches the stored hash. Without a stored hash it does the same work and returns
   * false.
   */
  verify(password: string, stored: string | undefined): Promise<boolean>;
}

/**
 * Creates a hasher that works off the main thread. The queue keeps a burst of logins from blocking other
 * work: libuv has only a few threads (default four), and name look-ups and compression use them too.
 */
export function createPasswordHasher({
  concurrency,
  maxQueue = 50,
  cost = defaultCost,
}: PasswordHasherOptions): PasswordHasher {
  const withinLimit = bulkhead({ maxConcurrent: concurrency, maxQueue, createError: queueFullError });
  const derive = (password: string, salt: Uint8Array) => withinLimit(() => deriveKey(password, salt, cost));

  return {
    async hash(password) {
      const salt = randomBytes(16);
      const hash = await derive(password, salt);
      return `scrypt$${salt.toString('base64url')}$${hash.toString('base64url')}`;
    },

    async verify(password, stored) {
      const [, salt = '', expected = ''] = (stored ?? `scrypt$$${'A'.repeat(43)}`).split('$');
      const hash = await derive(password, Buffer.from(salt, 'base64url'));
      const same = timingSafeEqual(hash, Buffer.from(expected, 'base64url'));
      return stored !== undefined && same;
    },
  };
}

function queueFullError() {
  return Unavailable('Too many passwords are being checked: try again after `Retry-After`.', {
    headers: { 'Retry-After': '3' },
  });
}

function deriveKey(password: string, salt: Uint8Array, cost: ScryptCost): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(password.normalize('NFC'), salt, length, { ...cost, maxmem }, (error, key) =>
      error ? reject(error) : resolve(key),
    );
  });
}

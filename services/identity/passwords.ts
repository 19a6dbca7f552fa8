/** Passwords: scrypt (RFC 7914) with 32 MiB of memory for each guess, computed off the main thread. */
import { randomBytes, scrypt, timingSafeEqual } from 'node:crypto';

const cost = { N: 2 ** 15, r: 8, p: 1, maxmem: 64 * 1024 * 1024 };
const length = 32;

/** What is stored in a password's place: `scrypt$salt$hash`, base64url. */
export async function hashPassword(password: string): Promise<string> {
  const salt = randomBytes(16);
  const hash = await derive(password, salt);
  return `scrypt$${salt.toString('base64url')}$${hash.toString('base64url')}`;
}

/** Whether a password is the stored one; without a stored one it does the same work and says no. */
export async function isPassword(password: string, stored: string | undefined): Promise<boolean> {
  const [, salt = '', expected = ''] = (stored ?? `scrypt$$${'A'.repeat(43)}`).split('$');
  const hash = await derive(password, Buffer.from(salt, 'base64url'));
  const same = timingSafeEqual(hash, Buffer.from(expected, 'base64url'));
  return stored !== undefined && same;
}

function derive(password: string, salt: Uint8Array): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(password.normalize('NFC'), salt, length, cost, (error, key) =>
      error ? reject(error) : resolve(key),
    );
  });
}

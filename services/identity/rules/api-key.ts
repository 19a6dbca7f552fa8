/**
 * The format of API keys: `pds_`, 43 random characters and a checksum of 6, which detects typos without a
 * lookup.
 */
import { createHash } from 'node:crypto';

/** Formats 32 random bytes as an API key. */
export function formatApiKey(random: Uint8Array): string {
  const secret = Buffer.from(random).toString('base64url');
  return `pds_${secret}${checksum(secret)}`;
}

/** Whether a text has the format of an API key and a correct checksum. */
export function isWellFormedKey(text: string): boolean {
  const [, secret, sum] = /^pds_([\w-]{43})([\w-]{6})$/.exec(text) ?? [];
  return secret !== undefined && sum === checksum(secret);
}

/** The first 12 characters of a key, by which its owner recognizes it. */
export function getKeyPrefix(key: string): string {
  return key.slice(0, 12);
}

function checksum(secret: string): string {
  return createHash('sha256').update(`pds_${secret}`).digest('base64url').slice(0, 6);
}

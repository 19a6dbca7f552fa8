/** The form of API keys: `pds_`, 43 characters of randomness, 6 of checksum, so that typos are caught offline. */
import { createHash } from 'node:crypto';

/** An API key from 32 random bytes. */
export function keyFrom(random: Uint8Array): string {
  const secret = Buffer.from(random).toString('base64url');
  return `pds_${secret}${checksum(secret)}`;
}

/** Whether a text can be an API key: form and checksum fit. */
export function isWellFormedKey(text: string): boolean {
  const [, secret, sum] = /^pds_([\w-]{43})([\w-]{6})$/.exec(text) ?? [];
  return secret !== undefined && sum === checksum(secret);
}

/** What is shown of a key to recognise it by. */
export function prefixOf(key: string): string {
  return key.slice(0, 12);
}

function checksum(secret: string): string {
  return createHash('sha256').update(`pds_${secret}`).digest('base64url').slice(0, 6);
}

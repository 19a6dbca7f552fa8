/** Rotation of signing keys. A key is published, then signs, then only verifies, then is deleted. */

/** What the rules need of a signing key. */
export interface SigningKey {
  _id: string;
  signs_from: Date;
}

/**
 * How long a key is published before it signs, ms: longer than a verifier waits before it reads the keys
 * again.
 */
export const publishAheadMs = 60_000;

/** How long a key verifies after its successor signs, ms: longer than an access token is valid. */
export const verificationGraceMs = 3_600_000;

/** The key that signs at `at`: the newest whose `signs_from` has passed, or the oldest key if none has. */
export function findCurrentKey<Key extends SigningKey>(keys: readonly Key[], at: Date): Key | undefined {
  const byTime = [...keys].sort((a, b) => b.signs_from.getTime() - a.signs_from.getTime());
  return byTime.find((key) => key.signs_from <= at) ?? byTime.at(-1);
}

/** The keys that no valid token was signed with. */
export function findExpiredKeys<Key extends SigningKey>(keys: readonly Key[], at: Date): Key[] {
  const current = findCurrentKey(keys, at);
  if (!current || at.getTime() - current.signs_from.getTime() < verificationGraceMs) return [];
  return keys.filter((key) => key.signs_from < current.signs_from);
}

/** Whether a new key is due: the newest key has signed for `days` days. */
export function isRotationDue(keys: readonly SigningKey[], at: Date, days: number): boolean {
  const newest = Math.max(...keys.map((key) => key.signs_from.getTime()));
  return keys.length > 0 && at.getTime() - newest >= days * 86_400_000;
}

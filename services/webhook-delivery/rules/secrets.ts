/** Rotation of webhook secrets: which secrets sign, and until when. */

/** Maximum number of secrets of a webhook that sign at the same time. */
export const maxSecrets = 5;

/** Longest overlap in which older secrets keep signing, in seconds: one week. */
export const maxOverlapSeconds = 604_800;

/** A secret with an optional expiry. */
export interface Expiring {
  /** When it stops signing; null if it does not expire. */
  readonly until: Date | null;
}

/** Returns whether a secret still signs. */
export function isUnexpired({ until }: Expiring, at: Date): boolean {
  return until === null || until > at;
}

/**
 * Returns the secrets after a rotation, newest first, without expired ones. Older secrets expire when the
 * overlap ends, or at their own expiry if that is earlier. So only the new secret signs after the overlap,
 * even after several rotations.
 */
export function rotateSecrets<StoredSecret extends Expiring>(
  secrets: readonly StoredSecret[],
  newSecret: StoredSecret,
  { at, overlapSeconds }: { at: Date; overlapSeconds: number },
): StoredSecret[] {
  const end = new Date(at.getTime() + overlapSeconds * 1000);
  const older = secrets.map((secret) => ({
    ...secret,
    until: secret.until && secret.until < end ? secret.until : end,
  }));
  return [newSecret, ...older.filter((secret) => isUnexpired(secret, at))];
}

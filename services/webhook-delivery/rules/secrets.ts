/** The secrets of a webhook: which of them sign, and what a rotation leaves of them. */

/** At most this many sign at the same time. */
export const maxSecrets = 5;

/** How long an older secret may go on signing, s: a week. */
export const maxOverlapSeconds = 604_800;

/** A secret, as far as time goes. */
export interface Ending {
  /** When it stops to sign; null while it has no end. */
  readonly until: Date | null;
}

/** Whether a secret signs. */
export function isInForce({ until }: Ending, at: Date): boolean {
  return until === null || until > at;
}

/**
 * The secrets after a rotation, newest first. Every older one signs until the overlap is over, or until its own end when
 * that comes first: after the overlap the new one is alone, however often it was rotated before.
 */
export function rotated<Kept extends Ending>(
  secrets: readonly Kept[],
  young: Kept,
  { at, overlapSeconds }: { at: Date; overlapSeconds: number },
): Kept[] {
  const end = new Date(at.getTime() + overlapSeconds * 1000);
  const ending = secrets.map((one) => ({ ...one, until: one.until && one.until < end ? one.until : end }));
  return [young, ...ending.filter((one) => isInForce(one, at))];
}

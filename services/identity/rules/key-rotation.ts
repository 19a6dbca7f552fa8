/** The life of a signing key: published, then signing, then only verifying, then gone. */

/** A key as far as its life goes. */
export interface Lived {
  _id: string;
  signs_from: Date;
}

/** How long a key is published before it signs: longer than any verifier goes on without reading the keys again. */
export const publishedBeforeMs = 60_000;

/** How long a key verifies after its successor signs: longer than any access token lives. */
export const verifiesAfterMs = 3_600_000;

/** The key that signs now: the newest whose time has come; before any has, the oldest. */
export function signerAt<Key extends Lived>(keys: readonly Key[], at: Date): Key | undefined {
  const byTime = [...keys].sort((a, b) => b.signs_from.getTime() - a.signs_from.getTime());
  return byTime.find((key) => key.signs_from <= at) ?? byTime.at(-1);
}

/** Keys that no token can name any more. */
export function outlived<Key extends Lived>(keys: readonly Key[], at: Date): Key[] {
  const signer = signerAt(keys, at);
  if (!signer || at.getTime() - signer.signs_from.getTime() < verifiesAfterMs) return [];
  return keys.filter((key) => key.signs_from < signer.signs_from);
}

/** Whether a new key is due: the newest has signed for so many days. */
export function isRotationDue(keys: readonly Lived[], at: Date, days: number): boolean {
  const newest = Math.max(...keys.map((key) => key.signs_from.getTime()));
  return keys.length > 0 && at.getTime() - newest >= days * 86_400_000;
}

/** The rules of sharing: who may share, what can be shared, and which link opens what. */
import { createHash, timingSafeEqual } from 'node:crypto';

/** Whether this member may make or end a document's link: its owner and admins. */
export function mayShare(
  actor: { user_id: string; role: 'member' | 'admin' },
  document: { created_by: string },
): boolean {
  return actor.role === 'admin' || actor.user_id === document.created_by;
}

/** Whether a document can have a link at all: drafts and archived documents cannot. */
export function isShareable(document: { status: string }): boolean {
  return document.status === 'published';
}

/** Whether a token still counts for its family: archiving the published version ends all tokens made before. */
export function isLive(token: { share_epoch: number }, document: { share_epoch: number }): boolean {
  return token.share_epoch === document.share_epoch;
}

/** A token from 32 random bytes: 43 characters of base64url. */
export function tokenFrom(random: Uint8Array): string {
  return Buffer.from(random).toString('base64url');
}

/** Whether a text can be a token. */
export function isWellFormedToken(text: string): boolean {
  return /^[\w-]{43}$/.test(text);
}

/** What is stored in a token's place and looked up: its SHA-256, base64url. */
export function tokenHash(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}

/** What was found for a link; each part may be missing. */
export interface Link<Document> {
  token: string;
  /** The organization whose slug the link names. */
  organization: { _id: string } | undefined;
  held: { hash: string; organization_id: string; share_epoch: number } | undefined;
  /** The published version of the token's family. */
  document: Document | undefined;
}

/** The document that a link opens, or nothing: one answer for every cause. */
export function opens<Document extends { status: string; share_epoch: number }>(
  link: Link<Document>,
): Document | undefined {
  const { token, organization, held, document } = link;
  if (!organization || !held || !document) return undefined;
  if (!sameHash(tokenHash(token), held.hash)) return undefined;
  if (organization._id !== held.organization_id) return undefined;
  return isShareable(document) && isLive(held, document) ? document : undefined;
}

/** Compares two hashes in constant time. */
function sameHash(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
}

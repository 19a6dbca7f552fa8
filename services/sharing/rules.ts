/** The rules of sharing: who may share, what can be shared, which link opens what, and who may frame it. */
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

/** Whether a reader gets the page: `?format=` decides, else what their `Accept` prefers. */
export function isForPeople(format: unknown, { prefersHtml }: { prefersHtml: boolean }): boolean {
  if (format === 'json' || format === 'html') return format === 'html';
  return prefersHtml;
}

/** The sources of `frame-ancestors` for an organization's `embed_origins`; null is any, an empty list nobody. */
export function frameAncestors(origins: readonly string[] | null): string {
  if (origins === null) return '*';
  // what is no plain origin could end the directive
  const plain = origins.filter((origin) => /^https?:\/\/[\w.-]+(:\d+)?$/.test(origin));
  return plain.length === 0 ? "'none'" : plain.join(' ');
}

/** Compares two hashes in constant time. */
function sameHash(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
}

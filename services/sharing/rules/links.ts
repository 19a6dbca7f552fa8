/** The rules of sharing: what can be shared, what a link shows and who may frame it. */
import { createHash, timingSafeEqual } from 'node:crypto';
import { isDeepStrictEqual } from 'node:util';

/** Whether a document can have a link; drafts and archived documents cannot. */
export function isShareable(document: { status: string }): boolean {
  return document.status === 'published';
}

/** Whether a token is still valid; archiving the published version invalidates the tokens of its family. */
export function isLive(token: { share_epoch: number }, document: { share_epoch: number }): boolean {
  return token.share_epoch === document.share_epoch;
}

/** Whether the time of a link is over. */
export function isExpired({ expires_at }: { expires_at?: Date | undefined }, now: Date): boolean {
  return expires_at !== undefined && expires_at <= now;
}

/** Encodes 32 random bytes as a token: 43 characters of base64url. */
export function encodeToken(random: Uint8Array): string {
  return Buffer.from(random).toString('base64url');
}

/** The SHA-256 of a token in base64url; tokens are looked up by this hash. */
export function hashToken(token: string): string {
  return createHash('sha256').update(token).digest('base64url');
}

/** The hash of the token of a link, and the rows found for the link; each of them may be missing. */
export interface LinkLookup<Token, Organization, Document> {
  hash: string;
  storedToken: Token | undefined;
  /** The organization with the slug of the link. */
  organization: Organization | undefined;
  /** The published version of the token's family. */
  document: Document | undefined;
  now: Date;
}

/** The document that a link shows, its organization and its token; undefined if the link is invalid for any reason. */
export function resolveLink<
  Token extends { hash: string; organization_id: string; share_epoch: number; expires_at?: Date | undefined },
  Organization extends { _id: string },
  Document extends { status: string; share_epoch: number },
>({
  hash,
  storedToken,
  organization,
  document,
  now,
}: LinkLookup<Token, Organization, Document>):
  | { document: Document; organization: Organization; storedToken: Token }
  | undefined {
  if (!organization || !storedToken || !document) return undefined;
  if (!sameHash(hash, storedToken.hash)) return undefined;
  if (organization._id !== storedToken.organization_id) return undefined;
  if (isExpired(storedToken, now) || !isLive(storedToken, document)) return undefined;
  return isShareable(document) ? { document, organization, storedToken } : undefined;
}

/** What a link shows about the approval and the review of its document. */
export interface Control {
  content_hash: string | null;
  approved_at: Date | null;
  review_due_at: Date | null;
}

/** Returns what a link shows about approval and review; undefined unless the organization has set `show_control`. */
export function getControl(
  { content_hash, approval, review_due_at }: ControlledDocument,
  { show_control }: { show_control?: boolean | null | undefined },
): Control | undefined {
  if (!show_control) return undefined;
  const approved_at = approval?.approved_at ?? null;
  return { content_hash: content_hash ?? null, approved_at, review_due_at: review_due_at ?? null };
}

/** The fields of a document about approval and review. Rows from before they existed do not have them. */
interface ControlledDocument {
  content_hash?: string | null | undefined;
  approval?: { approved_at: Date | null } | null | undefined;
  review_due_at?: Date | null | undefined;
}

/** Whether to respond with the HTML page: `?format=` decides, otherwise the client's `Accept` header. */
export function wantsHtml(format: unknown, { prefersHtml }: { prefersHtml: boolean }): boolean {
  if (format === 'json' || format === 'html') return format === 'html';
  return prefersHtml;
}

/** The CSP `frame-ancestors` sources of a list of origins: null allows any origin, an empty list none. */
export function frameAncestors(origins: readonly string[] | null): string {
  if (origins === null) return '*';
  // anything but a plain origin could end the directive
  const plain = origins.filter((origin) => /^https?:\/\/[\w.-]+(:\d+)?$/.test(origin));
  return plain.length === 0 ? "'none'" : plain.join(' ');
}

/** Compares two hashes in constant time. */
function sameHash(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
}

/** The controls of a link as its owner sees them. */
interface Controls {
  expires_at?: Date | undefined;
  password_hash?: string | undefined;
  allowed_origins?: readonly string[] | undefined;
}

/** What `share_token.updated` says about a change of the controls. Never the password or its hash. */
export function toUpdateEvent(document_id: string, { before, after }: { before: Controls; after: Controls }) {
  const shown = { before: toShownControls(before), after: toShownControls(after) };
  const hasChanged = {
    expires_at: shown.before.expires_at !== shown.after.expires_at,
    password: before.password_hash !== after.password_hash,
    allowed_origins: !isDeepStrictEqual(shown.before.allowed_origins, shown.after.allowed_origins),
  };
  const names = ['expires_at', 'password', 'allowed_origins'] as const;
  return { document_id, changed: names.filter((name) => hasChanged[name]), ...shown };
}

function toShownControls({ expires_at, password_hash, allowed_origins }: Controls) {
  return {
    expires_at: expires_at?.toISOString() ?? null,
    has_password: password_hash !== undefined,
    allowed_origins: allowed_origins ? [...allowed_origins] : null,
  };
}

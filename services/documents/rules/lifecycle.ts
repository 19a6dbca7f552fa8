/** Defines the lifecycle of a document: its status changes, the fields of a revision, and its history. */
import { withoutApproval } from './approval.ts';
import { type ReviewSchedule, withoutReviewDue } from './review.ts';

/** The fields that a status change sets. */
export interface StatusChange extends Partial<Baseline>, Partial<ReviewSchedule> {
  status: 'published' | 'archived';
  published_at?: Date;
  published_by?: string;
  content_hash?: string;
  archived_at?: Date;
}

/** The oldest version from which a version differs only by minor changes, and when it was published. */
export interface Baseline {
  baseline_id: string;
  baseline_published_at: Date;
}

/** The published version that a draft replaces. Rows from before baselines existed have none. */
interface ReplacedVersion extends Partial<Baseline> {
  _id: string;
  published_at: Date | null;
  content_hash?: string | null;
}

/**
 * Returns the baseline of a draft that is published now. A minor change keeps that of the version it replaces, if that
 * version still has the words that were published. Every other version is a new baseline.
 */
export function findBaseline(
  { _id, minor_change }: { _id: string; minor_change?: boolean },
  replaced: ReplacedVersion | undefined,
  at: Date,
): Baseline {
  if (!minor_change || !replaced?.content_hash) return { baseline_id: _id, baseline_published_at: at };
  const { baseline_id = replaced._id, baseline_published_at = replaced.published_at ?? at } = replaced;
  return { baseline_id, baseline_published_at };
}

/** Returns the change with which a user publishes a draft that has this content hash and baseline. */
export function publish(userId: string, contentHash: string, baseline: Baseline, at: Date): StatusChange {
  return {
    ...{ status: 'published', published_at: at, published_by: userId },
    ...{ content_hash: contentHash, ...baseline },
  };
}

/** Returns the change that archives a published document, also when a revision replaces it. */
export function archive(at: Date): StatusChange {
  return { status: 'archived', archived_at: at, ...withoutReviewDue };
}

/** The fields about its content with which every draft starts. */
export const newVersionFields = { ...withoutApproval, change_summary: null, minor_change: false };

/** The fields that a revision copies from its original. */
export interface RevisionFields {
  organization_id: string;
  family_id: string;
  created_by: string;
  editor_id: string | null;
  title: string;
  version: string | null;
  department: string | null;
  language?: string | null;
  approver_ids?: string[];
  reviewer_id?: string | null;
  review_months?: number | null;
  share_epoch: number;
  node_count: number;
  content_bytes: number;
}

/** Returns the fields that a revision copies from its original, including the owner. */
export function revisionFields(original: RevisionFields): RevisionFields {
  const { organization_id, family_id, created_by, editor_id, title, version, department } = original;
  const { language = null, approver_ids = [], reviewer_id = null, review_months = null } = original;
  const { share_epoch, node_count, content_bytes } = original;
  return {
    organization_id,
    family_id,
    created_by,
    editor_id,
    title,
    version,
    department,
    language,
    approver_ids,
    reviewer_id,
    review_months,
    share_epoch,
    node_count,
    content_bytes,
  };
}

/** Returns the published versions of a family, oldest first; empty if the family has one document. */
export function toHistory<Member extends { _id: string; published_at: Date | null }>(
  family: readonly Member[],
): Member[] {
  if (family.length < 2) return [];
  return family
    .filter(({ published_at }) => published_at !== null)
    .sort((a, b) => Number(a.published_at) - Number(b.published_at) || (a._id < b._id ? -1 : 1));
}

/** The fields of a version that decide which one precedes it. */
interface VersionState {
  _id: string;
  status: string;
  published_at: Date | null;
}

/**
 * Returns the version that precedes another one of its family: for a draft the published one, for any other version the
 * one that was published before. Returns undefined if there is none.
 */
export function findPrecedingVersion<Member extends VersionState>(
  family: readonly Member[],
  { _id, status }: VersionState,
): Member | undefined {
  if (status === 'draft') return family.find((member) => member.status === 'published');
  const history = toHistory(family);
  return history[history.findIndex((member) => member._id === _id) - 1];
}

/** Defines the rules of approval: who may approve, when a draft is frozen, and when it may be published. */
import type { Approval } from '../approval-shapes.ts';
import type { DocumentStatus } from '../shapes.ts';
import { isWrite } from './writes.ts';

/** The pending or approved request of a document. */
export interface ApprovalState {
  id: string;
  status: 'pending' | 'approved';
  approved_at: Date | null;
}

/** The fields of a document that the rules need. Rows from before the fields existed do not have them. */
export interface ApprovableDocument {
  status: DocumentStatus;
  created_by: string;
  editor_id: string | null;
  approver_ids?: string[];
  approval?: ApprovalState | null;
  contributor_ids?: string[];
}

/** An approver of a request. */
export interface Approver {
  member_id: string;
  name: string | null;
  decision: 'approve' | 'reject' | null;
  comment: string | null;
  decided_at: Date | null;
}

/** Returns the fields with which the document of a request can be changed again. */
export const withoutApproval = { approval: null, content_hash: null };

/** Returns true if a draft must not be changed or deleted, because its approval is pending or given. */
export function isFrozen({ status, approval }: Pick<ApprovableDocument, 'status' | 'approval'>): boolean {
  return status === 'draft' && approval != null;
}

/** Returns the fields to store with a change, so that the user who changes a draft is one of its contributors. */
export function addContributor(
  document: ApprovableDocument,
  change: object,
  userId: string | null,
): { contributor_ids?: string[] } {
  if (document.status !== 'draft' || userId === null || !isWrite(change)) return {};
  const known = listContributors(document);
  return known.includes(userId) ? {} : { contributor_ids: [...known, userId] };
}

/** Returns the users who wrote a draft. Who wrote an older row is not known: they are its owner and its editor. */
export function listContributors({ contributor_ids, created_by, editor_id }: ApprovableDocument): string[] {
  return contributor_ids ?? [created_by, ...(editor_id === null ? [] : [editor_id])];
}

/** A person who cannot approve, and why. */
export interface Ineligible {
  member_id: string;
  reason: 'not_member' | 'submitter' | 'contributor';
}

/** Who submits a draft, and who wrote it. */
export interface Submission {
  submittedBy: string;
  contributors: readonly string[];
}

/** Returns those who cannot approve a submitted draft. Without a submission, all members can. */
export function findIneligible(
  approverIds: readonly string[],
  members: ReadonlySet<string>,
  submission?: Submission,
): Ineligible[] {
  return approverIds.flatMap((member_id): Ineligible[] => {
    if (!members.has(member_id)) return [{ member_id, reason: 'not_member' }];
    if (member_id === submission?.submittedBy) return [{ member_id, reason: 'submitter' }];
    return submission?.contributors.includes(member_id) ? [{ member_id, reason: 'contributor' }] : [];
  });
}

/** Returns the status of a request after a decision: one rejects, all must approve. */
export function getApprovalStatus(approvers: readonly Approver[]): Approval['status'] {
  if (approvers.some(({ decision }) => decision === 'reject')) return 'rejected';
  return approvers.every(({ decision }) => decision === 'approve') ? 'approved' : 'pending';
}

/**
 * Returns true if a draft may be published. `approvers` are those of its approved request; undefined without such a
 * request. Then no approval may be required or pending.
 */
export function mayPublish(
  { approver_ids = [], approval }: Pick<ApprovableDocument, 'approver_ids' | 'approval'>,
  approvers: readonly Approver[] | undefined,
  isApprovalRequired: boolean,
): boolean {
  if (!approvers) return approval == null && approver_ids.length === 0 && !isApprovalRequired;
  const approved = approvers.flatMap(({ member_id, decision }) =>
    decision === 'approve' ? [member_id] : [],
  );
  return approver_ids.every((id) => approved.includes(id));
}

/** Returns true for a rejection whose comment does not say what to change. */
export function isReasonMissing(decision: 'approve' | 'reject', comment: string | null = null): boolean {
  // characters such as a zero-width space say nothing either
  return (
    decision === 'reject' && !/[^\s\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}\u2800]/u.test(comment ?? '')
  );
}

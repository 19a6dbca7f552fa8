/** The rules of acknowledgement: whom a request asks, what counts, who is overdue, and when a request ends. */
import type { Audience, AudienceInput, PersonStatus } from '../acknowledgements/shapes.ts';

/** What the rules need of a version of a document. */
export interface Version {
  _id: string;
  published_at: Date | null;
  content_hash?: string | null | undefined;
  baseline_id?: string | null | undefined;
  baseline_published_at?: Date | null | undefined;
}

/** The oldest version from which a version differs only by minor changes. An acknowledgement of it counts. */
export interface Baseline {
  id: string;
  publishedAt: Date;
}

/** Returns the baseline of a published or archived version. */
export function getBaseline({ _id, published_at, baseline_id, baseline_published_at }: Version): Baseline {
  return {
    id: baseline_id ?? _id,
    publishedAt: baseline_published_at ?? published_at ?? new Date(0),
  };
}

/** What the rules need of a request. */
export interface RequestTerms {
  due_days: number;
  created_at: Date;
}

const dayMs = 86_400_000;

/**
 * Returns when a person who joined or was added at this time is due: the latest of the creation of the request, the
 * publication of the baseline and that time, plus the due days. Without a time, returns it for the first people.
 */
export function getDueAt({ due_days, created_at }: RequestTerms, version: Version, addedAt?: Date): Date {
  const times = [created_at, getBaseline(version).publishedAt, addedAt ?? created_at].map(Number);
  return new Date(Math.max(...times) + due_days * dayMs);
}

/** A person with what was acknowledged last. */
export interface PersonState {
  addedAt: Date;
  acknowledged: { baselineId: string } | undefined;
}

/** Whether an acknowledgement of a baseline counts for a version. Words that were edited in place have none. */
export function isAcknowledged(acknowledged: PersonState['acknowledged'], version: Version): boolean {
  return isAcknowledgeable(version) && acknowledged?.baselineId === getBaseline(version).id;
}

/** Whether a version can be acknowledged: not after it was edited in place. */
export function isAcknowledgeable({ content_hash }: Version): boolean {
  return typeof content_hash === 'string';
}

/** Returns the status of a person. */
export function getStatus(
  request: RequestTerms,
  version: Version,
  { addedAt, acknowledged }: PersonState,
  now: Date,
): PersonStatus {
  if (isAcknowledged(acknowledged, version)) return 'acknowledged';
  return now > getDueAt(request, version, addedAt) ? 'overdue' : 'pending';
}

/** Those who did not acknowledge and were added before this time are overdue; nobody is if it is undefined. */
export function getOverdueCutoff(request: RequestTerms, version: Version, now: Date): Date | undefined {
  if (now <= getDueAt(request, version)) return undefined;
  return new Date(Number(now) - request.due_days * dayMs);
}

/** Whether a request asks a member. */
export function isAsked(
  { everyone, departments, member_ids }: Audience,
  { user_id, department }: { user_id: string; department: string | null },
): boolean {
  if (everyone || member_ids.includes(user_id)) return true;
  return department !== null && departments.includes(department);
}

/** Returns the audience of a request; without one, no member is asked. Repeated values are folded. */
export function toAudience({ everyone, departments, member_ids }: AudienceInput = {}): Audience {
  return {
    everyone: everyone ?? false,
    departments: [...new Set(departments)],
    member_ids: [...new Set(member_ids)],
  };
}

/** Whether the words of a document can change only by a revision. */
export function isLocked(
  { approver_ids }: { approver_ids?: readonly string[] | null | undefined },
  settings: { lock_published: boolean; approval_required?: boolean | null | undefined },
): boolean {
  return settings.lock_published || settings.approval_required === true || (approver_ids ?? []).length > 0;
}

/**
 * Whether a request is open. It ends when it is closed or when its document is archived, which increments the
 * `share_epoch`. A later publication does not reopen it. `version` is the published one, if there is one.
 */
export function isOpen(
  { status, share_epoch }: { status: 'open' | 'closed'; share_epoch: number },
  version: { status: string; share_epoch: number } | undefined,
): boolean {
  return status === 'open' && version?.status === 'published' && version.share_epoch === share_epoch;
}

/** Defines when the review of a published version is due, and which notices about it are sent. */

/** How long before the review the first notice is sent, days. */
const noticeDays = 14;

const dayMs = 86_400_000;

/** Which notice: that the review is due in at most 14 days, or that it is due now. */
export type DaysLeft = 0 | typeof noticeDays;

/** The last notice that was sent about a due time. */
export interface SentNotice {
  due_at: Date;
  days_left: DaysLeft;
}

/** The fields of a version that the rules need. Rows from before the fields existed do not have them. */
export interface ReviewedVersion {
  published_at: Date | null;
  reviewed_at?: Date | null;
  review_months?: number | null;
  /** One entry for each due time since the last review: an interval can be changed and changed back. */
  review_notices?: readonly SentNotice[];
}

/** When the review of a published version is due, and when the next notice is to be sent. */
export interface ReviewSchedule {
  review_due_at: Date | null;
  review_notice_at: Date | null;
}

/** The schedule of a version whose review is not due: it has no interval, or it is not published. */
export const withoutReviewDue: ReviewSchedule = { review_due_at: null, review_notice_at: null };

/**
 * Returns the schedule of a published version. A notice that was sent about the same due time is not sent again, also
 * if another time was due in between.
 */
export function scheduleReview(version: ReviewedVersion): ReviewSchedule {
  const due = getReviewDueAt(version);
  return due ? { review_due_at: due, review_notice_at: getNoticeAt(due, version) } : withoutReviewDue;
}

/** Returns the later of publication and confirmation, plus the interval; null without an interval. */
export function getReviewDueAt({ published_at, reviewed_at, review_months }: ReviewedVersion): Date | null {
  if (!published_at || !review_months) return null;
  const start = reviewed_at && reviewed_at > published_at ? reviewed_at : published_at;
  return addMonths(start, review_months);
}

/** Adds calendar months in UTC. A day that the month does not have becomes its last day. */
export function addMonths(at: Date, months: number): Date {
  const result = new Date(at);
  result.setUTCDate(1);
  result.setUTCMonth(result.getUTCMonth() + months);
  const lastDay = new Date(Date.UTC(result.getUTCFullYear(), result.getUTCMonth() + 1, 0)).getUTCDate();
  result.setUTCDate(Math.min(at.getUTCDate(), lastDay));
  return result;
}

/** Returns the fields with which a published version is confirmed. Its earlier notices no longer matter. */
export function confirm(version: ReviewedVersion, at: Date) {
  const reviewed = { reviewed_at: at, review_notices: [] };
  return { ...reviewed, ...scheduleReview({ ...version, ...reviewed }) };
}

function getNoticeAt(due: Date, { review_notices = [] }: ReviewedVersion): Date | null {
  const sent = review_notices.find(({ due_at }) => due_at.getTime() === due.getTime());
  if (!sent) return new Date(due.getTime() - noticeDays * dayMs);
  return sent.days_left === 0 ? null : due;
}

/**
 * Returns the notice to send now, and the fields to store with it. After an outage over both times, only the notice
 * that the review is due is sent.
 */
export function sendNotice(
  { review_notices = [] }: ReviewedVersion,
  due_at: Date,
  now: Date,
): { days_left: DaysLeft; change: { review_notices: SentNotice[]; review_notice_at: Date | null } } {
  const days_left: DaysLeft = now >= due_at ? 0 : noticeDays;
  const others = review_notices.filter((sent) => sent.due_at.getTime() !== due_at.getTime());
  const change = {
    review_notices: [...others, { due_at, days_left }],
    review_notice_at: days_left === 0 ? null : due_at,
  };
  return { days_left, change };
}

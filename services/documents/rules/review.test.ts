/** Tests when reviews are due, and which notices are sent. */
import { describe, expect, test } from '@jest/globals';
import {
  addMonths,
  confirm,
  getReviewDueAt,
  type ReviewedVersion,
  type SentNotice,
  scheduleReview,
  sendNotice,
  withoutReviewDue,
} from './review.ts';

const toDate = (text: string) => new Date(text.length === 10 ? `${text}T09:30:00.000Z` : text);

describe('addMonths', () => {
  test.each([
    ['2026-11-21', 1, '2026-12-21'],
    ['2026-11-21', 12, '2027-11-21'],
    ['2026-01-31', 1, '2026-02-28'],
    ['2028-01-31', 1, '2028-02-29'],
    ['2028-01-30', 1, '2028-02-29'],
    ['2028-01-29', 1, '2028-02-29'],
    ['2026-01-29', 1, '2026-02-28'],
    ['2026-03-31', 1, '2026-04-30'],
    ['2026-05-31', 13, '2027-06-30'],
    ['2026-12-31', 2, '2027-02-28'],
    ['2026-10-31', 4, '2027-02-28'],
    ['2028-02-29', 12, '2029-02-28'],
    ['2028-02-29', 48, '2032-02-29'],
    ['2028-02-29', 1, '2028-03-29'],
    ['2026-02-28', 1, '2026-03-28'],
    ['2026-12-31', 60, '2031-12-31'],
    ['2099-12-31', 2, '2100-02-28'],
    ['2026-07-31', 1, '2026-08-31'],
    // the day is that of UTC, also where the local one differs
    ['2026-01-31T23:59:59.999Z', 1, '2026-02-28T23:59:59.999Z'],
    ['2026-03-01T00:00:00.000Z', 12, '2027-03-01T00:00:00.000Z'],
  ])('%s plus %i months is %s', (at, months, expected) => {
    const start = toDate(at);
    expect(addMonths(start, months)).toEqual(toDate(expected));
    expect(start).toEqual(toDate(at));
  });
});

const version: ReviewedVersion = { published_at: toDate('2026-01-31'), review_months: 1 };
const due = toDate('2026-02-28');
const sent = (days_left: SentNotice['days_left'], due_at = due): SentNotice => ({ due_at, days_left });

describe('the due time of a review', () => {
  test('is the later of publication and review, plus the interval', () => {
    expect(getReviewDueAt(version)).toEqual(due);
    const reviewed_at = toDate('2026-02-10');
    expect(getReviewDueAt({ ...version, reviewed_at })).toEqual(toDate('2026-03-10'));
    // a clock that went wrong
    expect(getReviewDueAt({ ...version, reviewed_at: toDate('2026-01-01') })).toEqual(due);
  });

  test('is null without an interval or a publication', () => {
    for (const more of [{ review_months: null }, { published_at: null }])
      expect(scheduleReview({ ...version, ...more })).toEqual(withoutReviewDue);
    expect(scheduleReview({ published_at: due })).toEqual(withoutReviewDue);
  });
});

describe('notices', () => {
  const schedule = (...review_notices: SentNotice[]) =>
    scheduleReview({ ...version, review_notices }).review_notice_at;

  test('are sent 14 days before the due time and at the due time, each once', () => {
    expect(scheduleReview(version)).toEqual({ review_due_at: due, review_notice_at: toDate('2026-02-14') });
    expect(schedule(sent(14))).toEqual(due);
    expect(schedule(sent(0))).toBeNull();
  });

  test('about other due times do not matter', () => {
    expect(schedule(sent(0, toDate('2026-03-31')))).toEqual(toDate('2026-02-14'));
    expect(schedule(sent(0, toDate('2026-03-31')), sent(14))).toEqual(due);
  });

  test.each([
    ['2026-02-14', 14, due],
    ['2026-02-28T09:29:59.999Z', 14, due],
    ['2026-02-28', 0, null],
    ['2027-01-01', 0, null],
  ] as const)('at %s, the latest one has %i days left', (now, days_left, review_notice_at) => {
    expect(sendNotice(version, due, toDate(now))).toEqual({
      days_left,
      change: { review_notices: [sent(days_left)], review_notice_at },
    });
  });

  test('keep one entry for each due time', () => {
    const other = sent(0, toDate('2026-03-31'));
    const { change } = sendNotice({ ...version, review_notices: [sent(14), other] }, due, due);
    expect(change.review_notices).toEqual([other, sent(0)]);
  });

  test('start again after a confirmation', () => {
    const at = toDate('2026-02-20');
    expect(confirm({ ...version, review_notices: [sent(0)] }, at)).toEqual({
      reviewed_at: at,
      review_notices: [],
      review_due_at: toDate('2026-03-20'),
      review_notice_at: toDate('2026-03-06'),
    });
  });
});

/** Invariants of the review cycle of documents. */
import { documents } from '../../../services/documents/store/collections.ts';
import { MemberRemoved } from '../../../services/identity/events.ts';
import { members } from '../../../services/identity/store/collections.ts';
import { type Invariant, joinById, rowInvariant, withoutMatch } from './invariant.ts';
import { exceptRecent } from './outbox.ts';

const orNull = (value: unknown) => ({ $ifNull: [value, null] });
const isDifferent = (one: unknown, other: unknown) => ({ $ne: [one, other] });

/** The later of publication and review, plus the interval; null of a version that is not published, or without one. */
const expectedDueTime = {
  $cond: [
    { $and: [{ $eq: ['$status', 'published'] }, { $gt: ['$review_months', 0] }] },
    {
      $dateAdd: {
        startDate: { $max: ['$published_at', '$reviewed_at'] },
        ...{ unit: 'month', amount: '$review_months' },
      },
    },
    null,
  ],
};

/** When the next notice is sent: 14 days before the review is due, and then when it is due. */
const expectedNoticeTime = {
  $cond: [
    isDifferent('$sent.due_at', '$review_due_at'),
    { $dateSubtract: { startDate: '$review_due_at', unit: 'day', amount: 14 } },
    { $cond: [{ $eq: ['$sent.days_left', 0] }, null, '$review_due_at'] },
  ],
};

/** The notice that was sent about the due time. */
const sentNotice = {
  $first: {
    $filter: {
      input: { $ifNull: ['$review_notices', []] },
      cond: { $eq: ['$$this.due_at', '$review_due_at'] },
    },
  },
};

/** The invariants of the review of a document. */
export const reviewInvariants: readonly Invariant[] = [
  {
    ...rowInvariant({
      ...{ collection: documents, field: 'reviewer_id' },
      description: 'The reviewer of a document is a member of its organization.',
      stages: (scan) => [
        { $match: { reviewer_id: { $type: 'string' } } },
        { $set: { member_id: { $concat: ['$organization_id', ':', '$reviewer_id'] } } },
        ...withoutMatch({ field: 'member_id', target: members }),
        ...exceptRecent(scan, { service: 'identity', event: MemberRemoved, subject: '$reviewer_id' }),
      ],
    }),
    isEventual: true,
  },
  rowInvariant({
    ...{ collection: documents, field: 'review_months' },
    description: 'All versions of a family have the same reviewer and the same interval of reviews.',
    stages: [
      { $match: { parent_doc_id: { $ne: null } } },
      ...joinById(documents, 'family_id', ['reviewer_id', 'review_months']),
      {
        $match: {
          $expr: {
            $or: ['reviewer_id', 'review_months'].map((field) =>
              isDifferent(orNull(`$found.${field}`), orNull(`$${field}`)),
            ),
          },
        },
      },
    ],
  }),
  rowInvariant({
    ...{ collection: documents, field: 'review_due_at' },
    description:
      'A published version with an interval is due this many months after its publication or, if that is later, its last review. No other version is due.',
    stages: [{ $match: { $expr: isDifferent(orNull('$review_due_at'), expectedDueTime) } }],
  }),
  rowInvariant({
    ...{ collection: documents, field: 'review_notice_at' },
    description:
      'The next notice about a review is to be sent 14 days before it is due or when it is due, unless it has been sent.',
    stages: [
      { $set: { sent: sentNotice } },
      { $match: { $expr: isDifferent(orNull('$review_notice_at'), orNull(expectedNoticeTime)) } },
    ],
  }),
];

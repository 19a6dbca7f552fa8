/** Invariants of the publish quota: the ledger of every publish, and the counters of limited plans. */
import { documents, publishLedger, publishUsage } from '../../../services/documents/store/collections.ts';
import { organizations, subscriptions } from '../../../services/identity/store/collections.ts';
import { type Invariant, joinById, rowInvariant, withoutMatch } from './invariant.ts';

const countInOrganization = (collection: { name: string }, as: string, filter: object) => ({
  $lookup: {
    ...{ from: collection.name, localField: '_id', foreignField: 'organization_id', as },
    pipeline: [{ $match: filter }, { $count: 'count' }],
  },
});

const isLedgerOfPeriod = {
  $and: [
    { $eq: ['$organization_id', '$$organization_id'] },
    { $or: [{ $eq: ['$$period', 'all'] }, { $eq: ['$month', '$$period'] }] },
  ],
};

/** The invariants of the collections `publish_ledger` and `publish_usage`. */
export const publishingInvariants: readonly Invariant[] = [
  rowInvariant({
    ...{ collection: publishLedger, field: 'document_id' },
    description: 'A row of the ledger is about a document of the organization that was published.',
    stages: withoutMatch({
      ...{ field: 'document_id', target: documents, inOrganization: true },
      matching: { published_at: { $type: 'date' } },
    }),
  }),
  rowInvariant({
    ...{ collection: publishLedger, field: 'month' },
    description: 'The month of a publish is that of its time, in UTC.',
    stages: [
      {
        $match: {
          $expr: { $ne: ['$month', { $dateToString: { date: '$published_at', format: '%Y-%m' } }] },
        },
      },
    ],
  }),
  rowInvariant({
    ...{ collection: organizations, field: 'publishes', batchSize: 200 },
    description: 'The ledger of an organization has as many rows as it has documents that were published.',
    stages: [
      countInOrganization(publishLedger, 'ledger', {}),
      countInOrganization(documents, 'published', { status: { $in: ['published', 'archived'] } }),
      { $match: { $expr: { $ne: [{ $first: '$ledger.count' }, { $first: '$published.count' }] } } },
    ],
  }),
  rowInvariant({
    ...{ collection: publishUsage, field: 'used', batchSize: 200 },
    description:
      'The counter of the current plan is the number of publishes in its period; that of an earlier plan is not higher.',
    stages: [
      { $set: { key: { $split: ['$_id', ':'] } } },
      { $set: { organization_id: { $first: '$key' }, period: { $arrayElemAt: ['$key', 1] } } },
      ...joinById(subscriptions, 'organization_id', ['terms_version']),
      {
        $lookup: {
          from: publishLedger.name,
          let: { organization_id: '$organization_id', period: '$period' },
          pipeline: [{ $match: { $expr: isLedgerOfPeriod } }, { $count: 'count' }],
          as: 'ledger',
        },
      },
      { $set: { published: { $ifNull: [{ $first: '$ledger.count' }, 0] } } },
      { $set: { isCurrent: { $eq: [{ $toString: '$found.terms_version' }, { $last: '$key' }] } } },
      {
        $match: {
          $expr: {
            $or: [
              { $gt: ['$used', '$published'] },
              { $and: ['$isCurrent', { $ne: ['$used', '$published'] }] },
            ],
          },
        },
      },
    ],
  }),
];

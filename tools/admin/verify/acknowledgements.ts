/** Invariants of requests for acknowledgement, their readers, and acknowledgements. */
import { documents } from '../../../services/documents/store/collections.ts';
import { organizations } from '../../../services/identity/store/collections.ts';
import {
  acknowledgementReaders,
  acknowledgementRequests,
  acknowledgements,
} from '../../../services/sharing/store/acknowledgement-collections.ts';
import { type Invariant, joinById, reference, rowInvariant, withoutMatch } from './invariant.ts';

/** Leaves over the rows for which one of these pairs of fields differs. */
const whereDifferent = (pairs: Readonly<Record<string, string>>) => ({
  $match: {
    $expr: {
      $or: Object.entries(pairs).map(([one, other]) => ({ $ne: [`$${one}`, `$${other}`] })),
    },
  },
});

/** The invariants of the three collections, and of the baselines of documents. */
export const acknowledgementInvariants: readonly Invariant[] = [
  rowInvariant({
    ...{ collection: documents, field: 'baseline_id' },
    description:
      'The baseline of a version is a version of its family that was published then, and a version that is not minor is its own.',
    stages: [
      { $match: { baseline_id: { $exists: true } } },
      ...joinById(documents, 'baseline_id', ['family_id', 'published_at']),
      {
        $match: {
          $or: [
            { published_at: null },
            { minor_change: { $ne: true }, $expr: { $ne: ['$baseline_id', '$_id'] } },
            {
              $expr: {
                $or: [
                  { $ne: ['$family_id', '$found.family_id'] },
                  { $ne: ['$baseline_published_at', '$found.published_at'] },
                ],
              },
            },
          ],
        },
      },
    ],
  }),
  reference({
    ...{ collection: acknowledgementRequests, field: 'organization_id', target: organizations },
    description: 'A request for acknowledgement belongs to an organization.',
  }),
  rowInvariant({
    ...{ collection: acknowledgementRequests, field: 'family_id' },
    description:
      'A request for acknowledgement is about a family of the organization that has been published.',
    stages: withoutMatch({
      ...{ field: 'family_id', target: documents, inOrganization: true },
      matching: { published_at: { $type: 'date' } },
    }),
  }),
  rowInvariant({
    ...{ collection: acknowledgementRequests, field: 'share_epoch' },
    description: 'The share epoch of a request is not higher than that of its family.',
    stages: [
      ...joinById(documents, 'family_id', ['share_epoch']),
      { $match: { $expr: { $gt: ['$share_epoch', '$found.share_epoch'] } } },
    ],
  }),
  rowInvariant({
    ...{ collection: acknowledgementRequests, field: 'status' },
    description: 'A closed request has the time at which it was closed, and no check is due.',
    stages: [
      {
        $match: {
          $or: [
            { status: 'open', closed_at: { $ne: null } },
            { status: 'closed', closed_at: null },
            { status: 'closed', overdue_at: { $exists: true } },
          ],
        },
      },
    ],
  }),
  rowInvariant({
    ...{ collection: acknowledgementRequests, field: 'reader_count' },
    description: 'A request counts its readers, at most 50,000.',
    stages: [
      {
        $lookup: {
          ...{ from: acknowledgementReaders.name, localField: '_id', foreignField: 'request_id' },
          ...{ pipeline: [{ $count: 'count' }], as: 'stored' },
        },
      },
      {
        $match: {
          $expr: {
            $or: [
              { $ne: ['$reader_count', { $ifNull: [{ $first: '$stored.count' }, 0] }] },
              { $gt: ['$reader_count', 50_000] },
            ],
          },
        },
      },
    ],
  }),
  rowInvariant({
    ...{ collection: acknowledgementReaders, field: 'request_id' },
    description: 'A reader belongs to a request of the organization, about the same family.',
    stages: [
      ...joinById(acknowledgementRequests, 'request_id', ['organization_id', 'family_id']),
      whereDifferent({ organization_id: 'found.organization_id', family_id: 'found.family_id' }),
    ],
  }),
  rowInvariant({
    ...{ collection: acknowledgementReaders, field: 'acknowledged_document_id' },
    description: 'The last acknowledgement of a reader is the newest one that is stored.',
    stages: [
      {
        $lookup: {
          ...{
            from: acknowledgements.name,
            localField: 'request_id',
            foreignField: 'request_id',
            as: 'made',
          },
          let: { id: '$_id' },
          pipeline: [
            { $match: { $expr: { $eq: ['$person.id', '$$id'] } } },
            { $sort: { _id: -1 } },
            { $limit: 1 },
          ],
        },
      },
      { $set: { made: { $first: '$made' } } },
      whereDifferent({
        acknowledged_document_id: 'made.document_id',
        acknowledged_baseline_id: 'made.baseline_id',
        acknowledged_at: 'made.created_at',
      }),
    ],
  }),
  rowInvariant({
    ...{ collection: acknowledgements, field: 'request_id' },
    description: 'An acknowledgement belongs to a request of the organization and has its statement.',
    stages: [
      ...joinById(acknowledgementRequests, 'request_id', ['organization_id', 'statement']),
      whereDifferent({ organization_id: 'found.organization_id', statement: 'found.statement' }),
    ],
  }),
  rowInvariant({
    ...{ collection: acknowledgements, field: 'content_hash' },
    description:
      'An acknowledgement has the content hash and the baseline of its version. Only an edit in place takes the hash away.',
    stages: [
      ...joinById(documents, 'document_id', ['organization_id', 'content_hash', 'baseline_id']),
      {
        $match: {
          $expr: {
            $or: [
              { $ne: ['$organization_id', '$found.organization_id'] },
              { $ne: ['$content_hash', { $ifNull: ['$found.content_hash', '$content_hash'] }] },
              { $ne: ['$baseline_id', { $ifNull: ['$found.baseline_id', '$document_id'] }] },
            ],
          },
        },
      },
    ],
  }),
];

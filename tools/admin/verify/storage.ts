/** Invariants of the storage quota: the counter of each organization against its documents. */
import { documents, storageUsage } from '../../../services/documents/store/collections.ts';
import { blocksExpression } from '../../../services/documents/views.ts';
import { subscriptions } from '../../../services/identity/store/collections.ts';
import { type Invariant, joinById, reference, rowInvariant } from './invariant.ts';

/** Rows of counters, each with what `pipeline` finds in the documents of its organization, as `found`. */
const joinDocuments = (pipeline: readonly object[]) => ({
  $lookup: {
    ...{ from: documents.name, localField: '_id', foreignField: 'organization_id', as: 'found' },
    pipeline,
  },
});

const isCharged = { charged_blocks: { $exists: true } };
const sumCharges = { _id: null, documents: { $sum: 1 }, blocks: { $sum: '$charged_blocks' } };
const differsFromSum = (field: string) => ({
  $expr: { $ne: [`$${field}`, { $ifNull: [{ $first: `$found.${field}` }, 0] }] },
});

/** The invariants of the collection `storage_usage`. */
export const storageInvariants: readonly Invariant[] = [
  reference({
    ...{
      collection: documents,
      field: 'charged_blocks',
      localField: 'organization_id',
      target: storageUsage,
    },
    description: 'A document that is charged belongs to an organization with a counter.',
    when: isCharged,
  }),
  ...['documents', 'blocks'].map((field) =>
    rowInvariant({
      ...{ collection: storageUsage, field, batchSize: 50 },
      description: `The counter of an organization contains the ${field} of all documents that are charged.`,
      stages: [
        joinDocuments([{ $match: isCharged }, { $group: sumCharges }]),
        { $match: differsFromSum(field) },
      ],
    }),
  ),
  rowInvariant({
    ...{ collection: storageUsage, field: 'terms_version', batchSize: 50 },
    description: 'On a plan that limits documents, each of them is charged with its size.',
    stages: [
      // a recount that is due charges the documents that were written while the plan changed
      { $match: { recount_at: { $exists: false } } },
      ...joinById(subscriptions, '_id', ['terms_version', 'storage_limits']),
      { $match: { $expr: { $eq: ['$terms_version', '$found.terms_version'] } } },
      {
        $match: {
          $or: ['documents', 'document_bytes'].map((name) => ({
            [`found.storage_limits.${name}`]: { $type: 'number' },
          })),
        },
      },
      joinDocuments([
        { $match: { $expr: { $ne: ['$charged_blocks', blocksExpression] } } },
        { $limit: 1 },
        { $project: { _id: 1 } },
      ]),
      { $match: { found: { $ne: [] } } },
    ],
  }),
];

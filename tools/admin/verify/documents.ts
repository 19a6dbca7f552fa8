/** Invariants of documents, their trees, their families and their words in the search index. */
import { DocumentDeleted } from '../../../services/documents/events.ts';
import { canBeChildOf } from '../../../services/documents/rules/hierarchy.ts';
import { nodeType } from '../../../services/documents/shapes.ts';
import { documents, nodes, search } from '../../../services/documents/store/collections.ts';
import { MemberRemoved } from '../../../services/identity/events.ts';
import { members, organizations, users } from '../../../services/identity/store/collections.ts';
import { contentHashInvariant } from './content-hash.ts';
import { type Invariant, joinById, reference, rowInvariant, withoutMatch } from './invariant.ts';
import { exceptRecent } from './outbox.ts';

const isDate = { $type: 'date' };

/** Rows of documents, each with its counted nodes as `counted`. */
const countNodes = {
  $lookup: {
    ...{ from: nodes.name, localField: '_id', foreignField: 'document_id', as: 'counted' },
    pipeline: [
      {
        $group: {
          _id: null,
          node_count: { $sum: 1 },
          content_bytes: { $sum: { $strLenBytes: { $ifNull: ['$content', ''] } } },
        },
      },
    ],
  },
};

const differsFromCount = (field: string) => ({
  $expr: { $ne: [`$${field}`, { $ifNull: [{ $first: `$counted.${field}` }, 0] }] },
});

/** Rows of documents, each with the lineage ids that several of its nodes have as `repeated`. */
const repeatedLineage = {
  $lookup: {
    ...{ from: nodes.name, localField: '_id', foreignField: 'document_id', as: 'repeated' },
    pipeline: [
      { $group: { _id: { $ifNull: ['$lineage_id', '$_id'] }, count: { $sum: 1 } } },
      { $match: { count: { $gt: 1 } } },
    ],
  },
};

/** The conditions of the nodes that have a correct parent. */
const placedNodes = nodeType.options.map((type) => {
  const parent = nodeType.options.find((one) => canBeChildOf(type, one));
  if (!parent) return { node_type: type, parent_id: null };
  const sameDocument = { $expr: { $eq: ['$found.document_id', '$document_id'] } };
  return { node_type: type, 'found.node_type': parent, ...sameDocument };
});

/** The invariants of the collections `documents`, `nodes` and `search`. */
export const documentInvariants: readonly Invariant[] = [
  reference({
    ...{ collection: documents, field: 'organization_id', target: organizations },
    description: 'A document belongs to an organization.',
  }),
  reference({
    ...{ collection: documents, field: 'created_by', target: users },
    description: 'The owner of a document is a user.',
  }),
  {
    ...rowInvariant({
      ...{ collection: documents, field: 'editor_id' },
      description: 'The editor of a document is a member of its organization.',
      stages: (scan) => [
        { $match: { editor_id: { $ne: null } } },
        { $set: { member_id: { $concat: ['$organization_id', ':', '$editor_id'] } } },
        ...withoutMatch({ field: 'member_id', target: members }),
        ...exceptRecent(scan, { service: 'identity', event: MemberRemoved, subject: '$editor_id' }),
      ],
    }),
    isEventual: true,
  },
  rowInvariant({
    ...{ collection: documents, field: 'status' },
    description:
      'A published document has the time of its publish, an archived one also that of its archiving.',
    stages: [
      {
        $match: {
          $nor: [
            { status: 'draft', published_at: null, archived_at: null },
            { status: 'published', published_at: isDate, archived_at: null },
            { status: 'archived', published_at: isDate, archived_at: isDate },
          ],
        },
      },
    ],
  }),
  rowInvariant({
    ...{ collection: documents, field: 'family_id' },
    description: 'The first version of a family has the id of the family.',
    stages: [{ $match: { parent_doc_id: null, $expr: { $ne: ['$family_id', '$_id'] } } }],
  }),
  rowInvariant({
    ...{ collection: documents, field: 'parent_doc_id' },
    description: 'A revision has a published or archived parent in the same family and organization.',
    stages: [
      { $match: { parent_doc_id: { $ne: null } } },
      ...joinById(documents, 'parent_doc_id', ['status', 'family_id', 'organization_id']),
      {
        $match: {
          $nor: [
            {
              'found.status': { $in: ['published', 'archived'] },
              $expr: {
                $and: [
                  { $eq: ['$found.family_id', '$family_id'] },
                  { $eq: ['$found.organization_id', '$organization_id'] },
                ],
              },
            },
          ],
        },
      },
    ],
  }),
  rowInvariant({
    ...{ collection: documents, field: 'share_epoch' },
    description: 'All versions of a family have the same share epoch.',
    stages: [
      { $match: { parent_doc_id: { $ne: null } } },
      ...joinById(documents, 'family_id', ['share_epoch']),
      { $match: { $expr: { $ne: ['$found.share_epoch', '$share_epoch'] } } },
    ],
  }),
  contentHashInvariant,
  rowInvariant({
    ...{ collection: documents, field: 'node_count', batchSize: 200 },
    description: 'The node count of a document is the number of its nodes.',
    stages: [countNodes, { $match: differsFromCount('node_count') }],
  }),
  rowInvariant({
    ...{ collection: documents, field: 'content_bytes', batchSize: 200 },
    description: 'The content size of a document is the size of the rich text of its nodes.',
    stages: [countNodes, { $match: differsFromCount('content_bytes') }],
  }),
  rowInvariant({
    ...{ collection: documents, field: 'lineage_id', batchSize: 200 },
    description: 'The nodes of a document have different lineage ids.',
    stages: [repeatedLineage, { $match: { repeated: { $ne: [] } } }],
  }),
  {
    ...rowInvariant({
      ...{ collection: documents, field: 'reindex_at' },
      description: 'The words of a changed document are written to the search index.',
      stages: ({ settledBefore }) => [{ $match: { reindex_at: { $gt: new Date(0), $lt: settledBefore } } }],
    }),
    isEventual: true,
  },
  rowInvariant({
    ...{ collection: documents, field: 'words' },
    description: 'A document that is marked as indexed has words in the search index.',
    stages: [
      { $match: { reindex_at: { $type: 'null' } } },
      ...withoutMatch({ field: '_id', target: search, inOrganization: true }),
    ],
  }),
  reference({
    ...{ collection: nodes, field: 'document_id', target: documents, inOrganization: true },
    description: 'A node belongs to a document of its organization.',
  }),
  rowInvariant({
    ...{ collection: nodes, field: 'parent_id' },
    description: 'A section has no parent, a step has a section and a sub-step a step of the same document.',
    stages: [
      ...joinById(nodes, 'parent_id', ['document_id', 'node_type']),
      { $match: { $nor: placedNodes } },
    ],
  }),
  rowInvariant({
    ...{ collection: nodes, field: 'order' },
    description: 'The order of a node is a finite number.',
    stages: [{ $match: { order: { $not: { $gte: -Number.MAX_VALUE, $lte: Number.MAX_VALUE } } } }],
  }),
  {
    ...rowInvariant({
      ...{ collection: search, field: '_id' },
      description: 'Words in the search index belong to a document of their organization.',
      stages: (scan) => [
        // the lease and the marker of the backfill belong to no organization
        { $match: { organization_id: { $ne: '' } } },
        ...withoutMatch({ field: '_id', target: documents, inOrganization: true }),
        ...exceptRecent(scan, { service: 'documents', event: DocumentDeleted, subject: '$_id' }),
      ],
    }),
    isEventual: true,
  },
];

/** Invariants of public links, and of Word templates with their files. */
import { documents } from '../../../services/documents/store/collections.ts';
import { templateBucket, templates } from '../../../services/export/store/templates.ts';
import { organizations, users } from '../../../services/identity/store/collections.ts';
import { shareTokens } from '../../../services/sharing/store/collections.ts';
import { type Invariant, joinById, reference, rowInvariant, withoutMatch } from './invariant.ts';

const files = { name: `${templateBucket}.files` };
const chunks = { name: `${templateBucket}.chunks` };

/** An hourly sweep deletes orphaned files that are older than an hour. */
const sweepMs = 2 * 3_600_000;

/** The invariants of the collection `share_tokens`. */
export const sharingInvariants: readonly Invariant[] = [
  reference({
    ...{ collection: shareTokens, field: 'organization_id', target: organizations },
    description: 'A public link belongs to an organization.',
  }),
  rowInvariant({
    ...{ collection: shareTokens, field: 'family_id' },
    description: 'A public link belongs to a family of the organization that has been published.',
    stages: withoutMatch({
      ...{ field: 'family_id', target: documents, inOrganization: true },
      matching: { published_at: { $type: 'date' } },
    }),
  }),
  rowInvariant({
    ...{ collection: shareTokens, field: 'share_epoch' },
    description: 'The share epoch of a public link is not higher than that of its family.',
    stages: [
      ...joinById(documents, 'family_id', ['share_epoch']),
      { $match: { $expr: { $gt: ['$share_epoch', '$found.share_epoch'] } } },
    ],
  }),
  rowInvariant({
    ...{ collection: shareTokens, field: 'password_hash' },
    description: 'The password of a public link is stored as a hash.',
    stages: [{ $match: { password_hash: { $exists: true, $not: /^scrypt\$[\w-]{22}\$[\w-]{43}$/ } } }],
  }),
];

/** The invariants of the collection `templates` and of its GridFS bucket. */
export const templateInvariants: readonly Invariant[] = [
  reference({
    ...{ collection: templates, field: 'organization_id', target: organizations },
    description: 'A template belongs to an organization.',
  }),
  reference({
    ...{ collection: templates, field: 'created_by', target: users },
    description: 'A template was created by a user.',
  }),
  rowInvariant({
    ...{ collection: templates, field: 'original_file' },
    description: 'A template has its uploaded file, in full length.',
    stages: [
      ...joinById(files, 'original_file', ['length']),
      { $match: { $expr: { $ne: ['$found.length', '$size_bytes'] } } },
    ],
  }),
  reference({
    ...{
      collection: templates,
      field: 'compiled_file',
      target: files,
      when: { compiled_file: { $exists: true } },
    },
    description: 'A template that was compiled has its compiled file.',
  }),
  rowInvariant({
    ...{ collection: files, field: 'length' },
    description: 'A file has all its chunks.',
    stages: [
      {
        $lookup: {
          ...{ from: chunks.name, localField: '_id', foreignField: 'files_id', as: 'stored' },
          pipeline: [{ $count: 'count' }],
        },
      },
      {
        $match: {
          $expr: {
            $ne: [
              { $ifNull: [{ $first: '$stored.count' }, 0] },
              { $toInt: { $ceil: { $divide: ['$length', '$chunkSize'] } } },
            ],
          },
        },
      },
    ],
  }),
  {
    ...rowInvariant({
      ...{ collection: files, field: 'filename' },
      description: 'A file belongs to a template.',
      stages: ({ settledBefore }) => [
        { $match: { uploadDate: { $lt: new Date(settledBefore.getTime() - sweepMs) } } },
        { $set: { template_id: { $first: { $split: ['$filename', '/'] } } } },
        ...withoutMatch({ field: 'template_id', target: templates }),
      ],
    }),
    isEventual: true,
  },
  {
    ...rowInvariant({
      ...{ collection: chunks, field: 'files_id' },
      description: 'A chunk belongs to a file.',
      stages: ({ settledBefore }) => [
        // the rows are large, and the following stages need only their ids
        { $project: { files_id: 1, createdAt: { $toDate: '$files_id' } } },
        { $match: { createdAt: { $lt: new Date(settledBefore.getTime() - sweepMs) } } },
        ...withoutMatch({ field: 'files_id', target: files }),
      ],
      batchSize: 200,
    }),
    isEventual: true,
  },
];

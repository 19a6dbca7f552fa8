/** Invariants of requests for approval and of the documents that they freeze. */
import { approvals, documents } from '../../../services/documents/store/collections.ts';
import { organizations } from '../../../services/identity/store/collections.ts';
import { type Invariant, joinById, reference, rowInvariant } from './invariant.ts';

const isEqual = (one: string, other: string) => ({ $eq: [one, other] });

/** The invariants of `approvals` and of the approval of a document. */
export const approvalInvariants: readonly Invariant[] = [
  reference({
    ...{ collection: approvals, field: 'organization_id', target: organizations },
    description: 'A request for approval belongs to an organization.',
  }),
  rowInvariant({
    ...{ collection: documents, field: 'approval' },
    description:
      'The approval of a document is a request about its content hash, in the same state. That of a published or archived version is approved.',
    stages: [
      { $match: { approval: { $type: 'object' } } },
      ...joinById(approvals, 'approval.id', ['document_id', 'status', 'content_hash']),
      {
        $match: {
          $nor: [
            {
              $or: [{ status: 'draft' }, { 'approval.status': 'approved' }],
              $expr: {
                $and: [
                  isEqual('$found.document_id', '$_id'),
                  isEqual('$found.status', '$approval.status'),
                  isEqual('$found.content_hash', '$content_hash'),
                ],
              },
            },
          ],
        },
      },
    ],
  }),
  rowInvariant({
    ...{ collection: approvals, field: 'document_id' },
    description: 'A pending request for approval is that of its draft.',
    stages: [
      { $match: { status: 'pending' } },
      ...joinById(documents, 'document_id', ['status', 'organization_id', 'approval']),
      {
        $match: {
          $nor: [
            {
              'found.status': 'draft',
              $expr: {
                $and: [
                  isEqual('$found.approval.id', '$_id'),
                  isEqual('$found.organization_id', '$organization_id'),
                ],
              },
            },
          ],
        },
      },
    ],
  }),
  rowInvariant({
    ...{ collection: approvals, field: 'approvers' },
    description:
      'All approvers of an approved request have approved, one of a rejected request has rejected, and none is the submitter.',
    stages: [
      {
        $match: {
          $or: [
            { approvers: { $size: 0 } },
            { $expr: { $in: ['$submitted_by', '$approvers.member_id'] } },
            { status: 'approved', approvers: { $elemMatch: { decision: { $ne: 'approve' } } } },
            { status: 'rejected', 'approvers.decision': { $ne: 'reject' } },
            { status: 'pending', 'approvers.decision': 'reject' },
            { status: 'pending', 'approvers.decision': { $ne: null } },
          ],
        },
      },
    ],
  }),
  rowInvariant({
    ...{ collection: documents, field: 'approver_ids' },
    description: 'All versions of a family have the same approvers.',
    stages: [
      { $match: { parent_doc_id: { $ne: null } } },
      ...joinById(documents, 'family_id', ['approver_ids']),
      {
        $match: {
          $expr: {
            $ne: [{ $ifNull: ['$found.approver_ids', []] }, { $ifNull: ['$approver_ids', []] }],
          },
        },
      },
    ],
  }),
];

/** Defines the operations on the approvers of a document and on requests for approval. */
import { z } from 'zod';
import { InvalidRequest, id, NotFound, operation, page, queryList } from '#libs/contract';
import { admin, member } from '../../identity/contract.ts';
import { approver, documentSubmitters, submitterOwnerOrAdmin } from '../access.ts';
import { Approval, approvalStatus, approverIds, comment, contentHash } from '../approval-shapes.ts';
import {
  AlreadyDecided,
  ApprovalClosed,
  ApproverNotEligible,
  ContentChanged,
  DocumentInApproval,
  DocumentIsArchived,
  DocumentNotDraft,
} from '../problems.ts';
import { Document, docParams } from '../shapes.ts';

const approvalParams = z.object({ approval_id: id });

export const updateApprovers = operation({
  id: 'updateApprovers',
  method: 'patch',
  path: '/documents/{doc_id}/approvers',
  summary: 'Set the members who must approve a document',
  description:
    'Applies to all versions of the document, and to each publish that starts later. An approved request that lacks one of the approvers no longer allows the publish. `[]` removes all approvers.',
  access: admin,
  params: docParams,
  body: z.strictObject({ approver_ids: approverIds }),
  status: 200,
  returns: Document,
  etag: true,
  problems: [NotFound, DocumentIsArchived, ApproverNotEligible],
});

export const requestApproval = operation({
  id: 'requestApproval',
  method: 'post',
  path: '/approvals',
  summary: 'Submit a draft for approval',
  description:
    'Asks the approvers of the document and those of the request; there must be at least one. An approver must be a member who neither submits the draft nor has written it. Until the request is rejected or withdrawn, the draft cannot be changed or deleted.',
  access: documentSubmitters,
  body: z.strictObject({
    document_id: id,
    approver_ids: approverIds.optional().meta({ description: 'Asked in addition to those of the document' }),
    comment: comment.nullish(),
  }),
  status: 201,
  returns: Approval,
  location: '/approvals/{id}',
  problems: [InvalidRequest, NotFound, DocumentNotDraft, DocumentInApproval, ApproverNotEligible],
});

export const listApprovals = operation({
  id: 'listApprovals',
  method: 'get',
  path: '/approvals',
  summary: 'List requests for approval, newest first',
  access: member,
  query: z.object({
    ...page,
    document_id: id.optional().meta({ description: 'Only requests for this version of a document' }),
    status: queryList(approvalStatus, approvalStatus.options.length)
      .optional()
      .meta({ description: 'May be repeated. Default: all' }),
    awaiting: z
      .enum(['me'])
      .optional()
      .meta({ description: '`me`: only pending requests that await your decision' }),
  }),
  status: 200,
  returns: z.array(Approval),
  paged: true,
  problems: [InvalidRequest],
});

export const getApproval = operation({
  id: 'getApproval',
  method: 'get',
  path: '/approvals/{approval_id}',
  summary: 'Get a request for approval',
  access: member,
  params: approvalParams,
  status: 200,
  returns: Approval,
  problems: [NotFound],
});

export const decideApproval = operation({
  id: 'decideApproval',
  method: 'post',
  path: '/approvals/{approval_id}/decision',
  summary: 'Approve or reject a draft',
  description:
    'You confirm the words with this `content_hash`. The request is approved when its last approver approves it, and rejected when one of them rejects it. A decision is final.',
  access: approver,
  params: approvalParams,
  body: z.strictObject({
    decision: z.enum(['approve', 'reject']),
    content_hash: contentHash,
    comment: comment.nullish().meta({ description: 'Required to reject: what to change' }),
  }),
  status: 200,
  returns: Approval,
  problems: [NotFound, AlreadyDecided, ApprovalClosed, ContentChanged],
});

export const withdrawApproval = operation({
  id: 'withdrawApproval',
  method: 'post',
  path: '/approvals/{approval_id}/withdraw',
  summary: 'Withdraw a pending or approved request',
  description: 'The draft can then be changed again. After the publish, a request is closed.',
  access: submitterOwnerOrAdmin,
  params: approvalParams,
  status: 200,
  returns: Approval,
  problems: [NotFound, ApprovalClosed],
});

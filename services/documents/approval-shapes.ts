/** Defines the request and response shapes of approvals. */
import { z } from 'zod';
import { id, text, timestamp } from '#libs/contract';

/** A content hash, in requests and responses. */
export const contentHash = z
  .string()
  .regex(/^sha256:[0-9a-f]{64}$/)
  .meta({ description: '`sha256:` and 64 hexadecimal digits' });

export const approvalStatus = z.enum(['pending', 'approved', 'rejected', 'withdrawn']).meta({
  id: 'ApprovalStatus',
  description: 'The state of a request for approval. Only a pending or approved one freezes its draft',
});

/** The ids of members who must approve, in a request. */
export const approverIds = z
  .array(id)
  .max(20)
  .refine((ids) => new Set(ids).size === ids.length, 'Name each approver once')
  .meta({ uniqueItems: true });

/** A comment, in requests. */
export const comment = text(2_000);

/** The fields of a document about its approval. An event from before they existed does not have them. */
export const approvalFields = {
  approver_ids: z.array(id).default([]).meta({
    description: 'The members who must approve each version before it is published',
  }),
  approval: z
    .strictObject({
      id,
      status: z.enum(['pending', 'approved']),
      approved_at: timestamp.nullable(),
    })
    .nullable()
    .default(null)
    .meta({
      id: 'ApprovalState',
      description:
        'The pending or approved request for approval of this version. Null if there is none, and after a published version was changed in place',
    }),
};

const ApprovalDecision = z
  .strictObject({
    member_id: id,
    name: z.string().nullable().meta({ description: 'The name at the time of the decision' }),
    decision: z.enum(['approve', 'reject']).nullable().meta({ description: 'Null if it is still awaited' }),
    comment: z.string().nullable(),
    decided_at: timestamp.nullable(),
  })
  .meta({ id: 'ApprovalDecision', description: 'An approver of a request, with the decision.' });

export const Approval = z
  .strictObject({
    id,
    document_id: id,
    content_hash: contentHash.meta({ description: 'The content hash of the draft that is to be approved' }),
    status: approvalStatus,
    submitted_by: id,
    comment: z.string().nullable(),
    approvers: z.array(ApprovalDecision),
    created_at: timestamp,
  })
  .meta({ id: 'Approval', description: 'A request for approval of a draft, with all decisions.' });
export type Approval = z.infer<typeof Approval>;

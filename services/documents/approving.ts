/** Sets the approvers of documents, submits drafts for approval, and takes the decisions of their approvers. */
import { isDeepStrictEqual } from 'node:util';
import { Forbidden, InvalidRequest, listErrors, newId } from '#libs/contract';
import { type HandlerInput, handle } from '#libs/http';
import type { Actor } from '#libs/store';
import { computeContentHash } from './content-hash.ts';
import {
  AlreadyDecided,
  ApprovalApproved,
  ApprovalClosed,
  ApprovalDecided,
  ApprovalRejected,
  ApprovalRequested,
  ApprovalWithdrawn,
  ApproverNotEligible,
  ContentChanged,
  DocumentApproversUpdated,
  DocumentIsArchived,
  decideApproval,
  requestApproval,
  updateApprovers,
  withdrawApproval,
} from './contract.ts';
import type { DocumentReply } from './document-reply.ts';
import { assertDraft, assertNotInApproval } from './editing.ts';
import { toApproval, toSummary } from './presenters.ts';
import {
  findIneligible,
  getApprovalStatus,
  isReasonMissing,
  listContributors,
  type Submission,
  withoutApproval,
} from './rules/approval.ts';
import type { Approvals } from './store/approvals.ts';
import type { ApprovalRow, DocumentRow } from './store/collections.ts';
import type { DocumentRepository } from './store/document-repository.ts';
import type { Families } from './store/families.ts';
import type { Trees } from './store/tree.ts';
import { unknownDocument } from './unknown-document.ts';

/** The dependencies of `approvalHandlers`. */
export interface ApprovalHandlerDeps {
  repository: DocumentRepository;
  families: Pick<Families, 'setApprovers'>;
  trees: Trees;
  approvals: Approvals;
  documentReply: DocumentReply;
  now: () => Date;
}

/** Handles the operations that change approvers and requests for approval. */
export function approvalHandlers(deps: ApprovalHandlerDeps) {
  const { repository, families, trees, approvals, documentReply, now } = deps;
  return [
    handle(
      updateApprovers,
      async ({ actor, params: { doc_id }, body: { approver_ids }, call: { ifMatch } }) =>
        repository.respond(actor, doc_id, async (within, tx) => {
          const document = await repository.get(within, doc_id, { ifMatch });
          if (document.status === 'archived') throw DocumentIsArchived();
          await assertEligible(within, approver_ids);
          const before = [...(document.approver_ids ?? [])];
          const isChange = !isDeepStrictEqual(approver_ids, before);
          if (isChange) await families.setApprovers(document, { approver_ids, at: now() }, tx);
          const changed = await repository.get(within, doc_id);
          if (isChange) tx.publish(DocumentApproversUpdated, { document: toSummary(changed), before });
          return documentReply.fromNodes(changed, await trees.findAll(changed, tx));
        }),
    ),

    handle(
      requestApproval,
      async ({ actor, body, authorize }) =>
        repository.respond(actor, body.document_id, async (within, tx) => {
          if (!(await repository.find(within, body.document_id))) throw unknownDocument('body');
          const submit = async (draft: DocumentRow, created_at: Date) => {
            assertDraft(draft);
            assertNotInApproval(draft);
            const approverIds = await getApprovers(within, draft, body.approver_ids);
            const content_hash = await computeContentHash(draft, await trees.findWords(draft, tx));
            const { comment = null } = body;
            const fields = { content_hash, submitted_by: actor.user_id, comment, created_at };
            const request = createRequest(draft, approverIds, fields);
            const approval = { id: request._id, status: 'pending' as const, approved_at: null };
            return { change: { content_hash, approval }, result: request };
          };
          const updated = await repository.update(within, body.document_id, { authorize }, submit);
          const { document, result: request } = updated;
          await approvals.add(request, tx);
          const approval = toApproval(request);
          tx.publish(ApprovalRequested, { document: toSummary(document), approval });
          return approval;
        }),
      {
        authorizeReplay: async ({ actor, body, authorize }) =>
          repository.get(actor, body.document_id, { authorize }),
      },
    ),

    handle(
      decideApproval,
      async ({ actor, params: { approval_id }, body, authorize }) => {
        if (isReasonMissing(body.decision, body.comment))
          throw listErrors(InvalidRequest, [{ path: 'body/comment', message: 'Say what to change' }]);
        const { document_id } = await approvals.get(actor, approval_id);
        return repository.respond(actor, document_id, async (within, tx) => {
          const request = await approvals.get(within, approval_id);
          authorize(request);
          assertDecidable(request, actor.user_id, body.content_hash);
          const decided = await decide(within, request, body);
          await approvals.update(request, decided, tx);
          const { content_hash } = request;
          tx.publish(ApprovalDecided, { document_id, approval_id, content_hash, decision: body.decision });
          const approval = toApproval({ ...request, ...decided });
          if (decided.status === 'pending') return approval;
          const { document } = await repository.update(within, document_id, {}, async (_, at) => {
            const approved = { approval: { id: approval_id, status: 'approved' as const, approved_at: at } };
            return { change: decided.status === 'approved' ? approved : withoutApproval };
          });
          const event = decided.status === 'approved' ? ApprovalApproved : ApprovalRejected;
          tx.publish(event, { document: toSummary(document), approval });
          return approval;
        });
      },
      {
        authorizeReplay: async ({ actor, params, authorize }) =>
          authorize(await approvals.get(actor, params.approval_id)),
      },
    ),

    handle(
      withdrawApproval,
      async ({ actor, params: { approval_id }, authorize }) => {
        const { document_id } = await approvals.get(actor, approval_id);
        return repository.respond(actor, document_id, async (within, tx) => {
          const { request, draft } = await findWithdrawable(within, approval_id, authorize);
          if (draft?.status !== 'draft' || draft.approval?.id !== approval_id) throw ApprovalClosed();
          await approvals.update(request, { status: 'withdrawn' }, tx);
          const withdraw = async () => ({ change: withoutApproval });
          const { document } = await repository.update(within, document_id, {}, withdraw);
          const approval = toApproval({ ...request, status: 'withdrawn' });
          tx.publish(ApprovalWithdrawn, { document: toSummary(document), approval });
          return approval;
        });
      },
      {
        authorizeReplay: ({ actor, params, authorize }) =>
          findWithdrawable(actor, params.approval_id, authorize),
      },
    ),
  ];

  /** Returns the approvers of a request. Throws unless there are some and all of them may approve. */
  async function getApprovers(
    actor: Actor & { user_id: string },
    draft: DocumentRow,
    named: readonly string[] = [],
  ): Promise<string[]> {
    const approverIds = [...new Set([...(draft.approver_ids ?? []), ...named])];
    if (approverIds.length === 0) {
      const message = 'Name at least one approver: the document has none';
      throw listErrors(InvalidRequest, [{ path: 'body/approver_ids', message }]);
    }
    const submission = { submittedBy: actor.user_id, contributors: listContributors(draft) };
    await assertEligible(actor, approverIds, submission);
    return approverIds;
  }

  /** Throws `ApproverNotEligible` unless all are members, and may approve what is submitted. */
  async function assertEligible(
    actor: Actor,
    approverIds: readonly string[],
    submission?: Submission,
  ): Promise<void> {
    const members = await approvals.findNames(actor, approverIds);
    const ineligible = findIneligible(approverIds, new Set(members.keys()), submission);
    if (ineligible.length > 0) throw ApproverNotEligible(undefined, { extra: { approvers: ineligible } });
  }

  /** Returns the change of a request by the decision of the actor. */
  async function decide(
    actor: Actor & { user_id: string },
    { approvers }: ApprovalRow,
    { decision, comment = null }: HandlerInput<typeof decideApproval>['body'],
  ): Promise<Pick<ApprovalRow, 'status' | 'approvers'>> {
    const name = (await approvals.findNames(actor, [actor.user_id])).get(actor.user_id);
    // removed a moment ago
    if (name === undefined) throw Forbidden();
    const decided = { name, decision, comment, decided_at: now() };
    const changed = approvers.map((one) => (one.member_id === actor.user_id ? { ...one, ...decided } : one));
    return { status: getApprovalStatus(changed), approvers: changed };
  }

  /** Returns a request and its document, which may be deleted. Throws unless the actor may withdraw the request. */
  async function findWithdrawable(
    actor: Actor,
    approvalId: string,
    authorize: HandlerInput<typeof withdrawApproval>['authorize'],
  ) {
    const request = await approvals.get(actor, approvalId);
    const draft = await repository.find(actor, request.document_id);
    authorize({ submitted_by: request.submitted_by, created_by: draft?.created_by });
    return { request, draft };
  }
}

function createRequest(
  { _id: document_id, organization_id }: DocumentRow,
  approverIds: readonly string[],
  fields: Pick<ApprovalRow, 'content_hash' | 'submitted_by' | 'comment' | 'created_at'>,
): ApprovalRow {
  const undecided = { name: null, decision: null, comment: null, decided_at: null };
  return {
    ...{ _id: newId(), organization_id, document_id, status: 'pending', ...fields },
    approvers: approverIds.map((member_id) => ({ member_id, ...undecided })),
  };
}

/** Throws unless the approver may decide on a request about this content hash. */
function assertDecidable({ approvers, status, content_hash }: ApprovalRow, me: string, hash: string): void {
  if (approvers.some(({ member_id, decision }) => member_id === me && decision !== null))
    throw AlreadyDecided();
  if (status !== 'pending') throw ApprovalClosed();
  if (hash !== content_hash) throw ContentChanged();
}

/** Sets the approvers of documents, submits drafts for approval, and takes the decisions of their approvers. */
import { z } from 'zod';
import { Forbidden, InvalidRequest, id, newId, type Problem, parseCursor } from '#libs/contract';
import { type HandlerInput, handle, toPage } from '#libs/http';
import type { Actor } from '#libs/store';
import { computeContentHash } from './content-hash.ts';
import {
  AlreadyDecided,
  ApprovalApproved,
  ApprovalClosed,
  ApprovalRejected,
  ApprovalRequested,
  ApprovalWithdrawn,
  ApproverNotEligible,
  ContentChanged,
  DocumentIsArchived,
  decideApproval,
  getApproval,
  listApprovals,
  requestApproval,
  updateApprovers,
  withdrawApproval,
} from './contract.ts';
import type { DocumentReply } from './document-reply.ts';
import { assertDraft, assertNotInApproval } from './editing.ts';
import { toApproval, toSummary } from './presenters.ts';
import {
  assertReason,
  findIneligible,
  getApprovalStatus,
  type Ineligible,
  listContributors,
  withoutApproval,
} from './rules/approval.ts';
import type { Approvals } from './store/approvals.ts';
import type { ApprovalRow, DocumentRow } from './store/collections.ts';
import type { DocumentRepository } from './store/document-repository.ts';
import type { Families } from './store/families.ts';
import type { Trees } from './store/tree.ts';

/** The dependencies of `approvalHandlers`. */
export interface ApprovalHandlerDeps {
  repository: DocumentRepository;
  families: Pick<Families, 'setApprovers'>;
  trees: Trees;
  approvals: Approvals;
  documentReply: DocumentReply;
  now: () => Date;
}

const position = z.tuple([id]);

/** Handles the operations on approvers and on requests for approval. */
export function approvalHandlers(deps: ApprovalHandlerDeps) {
  const { repository, families, trees, approvals, documentReply, now } = deps;
  return [
    handle(
      updateApprovers,
      async ({ actor, params: { doc_id }, body: { approver_ids }, call: { ifMatch } }) =>
        repository.respond(actor, doc_id, async (within, tx) => {
          const document = await repository.get(within, doc_id, { ifMatch });
          if (document.status === 'archived') throw DocumentIsArchived();
          const members = await approvals.findNames(within, approver_ids);
          const ineligible = findIneligible(approver_ids, new Set(members.keys()));
          if (ineligible.length > 0) throw notEligibleProblem(ineligible);
          await families.setApprovers(document, { approver_ids, at: now() }, tx);
          const changed = await repository.get(within, doc_id);
          return documentReply.fromNodes(changed, await trees.findAll(changed, tx));
        }),
    ),

    handle(
      requestApproval,
      async ({ actor, body, authorize }) =>
        repository.respond(actor, body.document_id, async (within, tx) => {
          await assertDocument(within, body.document_id, 'body');
          const request = { _id: newId(), submittedBy: actor.user_id, ...body };
          const submit = async (draft: DocumentRow, at: Date) => {
            assertDraft(draft);
            assertNotInApproval(draft);
            const approverIds = await getApprovers(within, draft, request);
            const nodes = await trees.findAll(draft, tx);
            const content_hash = await computeContentHash(draft, nodes);
            const approval = toNewRequest(request, draft, { content_hash, approverIds, at });
            const state = { id: approval._id, status: 'pending' as const, approved_at: null };
            return { change: { content_hash, approval: state }, result: approval };
          };
          const updated = await repository.update(within, body.document_id, { authorize }, submit);
          const approval = toApproval(updated.result);
          await approvals.add(updated.result, tx);
          tx.publish(ApprovalRequested, { document: toSummary(updated.document), approval });
          return approval;
        }),
      {
        authorizeReplay: async ({ actor, body, authorize }) =>
          repository.get(actor, body.document_id, { authorize }),
      },
    ),

    handle(listApprovals, async ({ actor, query }) => {
      const { cursor, limit, document_id, status, awaiting } = query;
      if (document_id !== undefined) await assertDocument(actor, document_id, 'query');
      const [from] = parseCursor(cursor, position) ?? [];
      const awaited = awaiting && actor.user_id;
      const found = await approvals.list(actor, { document_id, status, awaited }, { from, limit: limit + 1 });
      return toPage({ found, limit, toItem: toApproval, position: (_, next) => [next._id] });
    }),

    handle(getApproval, async ({ actor, params }) =>
      toApproval(await approvals.get(actor, params.approval_id)),
    ),

    handle(
      decideApproval,
      async ({ actor, params: { approval_id }, body, authorize }) => {
        const { document_id } = await approvals.get(actor, approval_id);
        return repository.respond(actor, document_id, async (within, tx) => {
          const request = await approvals.get(within, approval_id);
          authorize(request);
          assertReason(body.decision, body.comment);
          assertDecidable(request, actor.user_id, body.content_hash);
          const decided = await decide(within, request, body);
          await approvals.update(request, decided, tx);
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
          const request = await approvals.get(within, approval_id);
          const draft = await repository.find(within, document_id);
          authorize({ submitted_by: request.submitted_by, created_by: draft?.created_by });
          if (draft?.status !== 'draft' || draft.approval?.id !== approval_id) throw ApprovalClosed();
          await approvals.update(request, { status: 'withdrawn' }, tx);
          const withdraw = async () => ({ change: withoutApproval });
          const { document } = await repository.update(within, document_id, {}, withdraw);
          const approval = toApproval({ ...request, status: 'withdrawn' });
          tx.publish(ApprovalWithdrawn, { document: toSummary(document), approval });
          return approval;
        });
      },
      { authorizeReplay: assertWithdrawable },
    ),
  ];

  /** Throws `InvalidRequest` if the document that the query or the body names does not exist. */
  async function assertDocument(actor: Actor, document_id: string, place: 'query' | 'body'): Promise<void> {
    if (await repository.find(actor, document_id)) return;
    const errors = [{ path: `${place}/document_id`, message: 'This document does not exist' }];
    throw InvalidRequest(undefined, { extra: { errors } });
  }

  /** Returns the approvers of a request. Throws unless there are some and all of them may approve. */
  async function getApprovers(
    actor: Actor,
    draft: DocumentRow,
    { submittedBy, approver_ids = [] }: NewRequest,
  ): Promise<string[]> {
    const approverIds = [...new Set([...(draft.approver_ids ?? []), ...approver_ids])];
    if (approverIds.length === 0) {
      const message = 'Name at least one approver: the document has none';
      throw InvalidRequest(undefined, { extra: { errors: [{ path: 'body/approver_ids', message }] } });
    }
    const members = await approvals.findNames(actor, approverIds);
    const contributors = listContributors(draft);
    const ineligible = findIneligible(approverIds, new Set(members.keys()), { submittedBy, contributors });
    if (ineligible.length > 0) throw notEligibleProblem(ineligible);
    return approverIds;
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

  async function assertWithdrawable({
    actor,
    params,
    authorize,
  }: Pick<HandlerInput<typeof withdrawApproval>, 'actor' | 'params' | 'authorize'>): Promise<void> {
    const { submitted_by, document_id } = await approvals.get(actor, params.approval_id);
    const document = await repository.find(actor, document_id);
    authorize({ submitted_by, created_by: document?.created_by });
  }
}

/** What a request for approval says. */
interface NewRequest {
  _id: string;
  submittedBy: string;
  approver_ids?: string[] | undefined;
  comment?: string | null | undefined;
}

function toNewRequest(
  { _id, submittedBy, comment = null }: NewRequest,
  { _id: document_id, organization_id }: DocumentRow,
  { content_hash, approverIds, at }: { content_hash: string; approverIds: readonly string[]; at: Date },
): ApprovalRow {
  const undecided = { name: null, decision: null, comment: null, decided_at: null };
  return {
    _id,
    organization_id,
    document_id,
    content_hash,
    status: 'pending',
    submitted_by: submittedBy,
    comment,
    approvers: approverIds.map((member_id) => ({ member_id, ...undecided })),
    created_at: at,
  };
}

/** Throws unless the approver may decide on a request about this content hash. */
function assertDecidable({ approvers, status, content_hash }: ApprovalRow, me: string, hash: string): void {
  if (approvers.some(({ member_id, decision }) => member_id === me && decision !== null))
    throw AlreadyDecided();
  if (status !== 'pending') throw ApprovalClosed();
  if (hash !== content_hash) throw ContentChanged();
}

function notEligibleProblem(approvers: Ineligible[]): Problem {
  return ApproverNotEligible(undefined, { extra: { approvers } });
}

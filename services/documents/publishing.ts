/** Publishes drafts, which consumes one publish event of the plan, and archives published documents. */
import { handle, reply } from '#libs/http';
import type { Actor } from '#libs/store';
import { computeContentHash } from './content-hash.ts';
import {
  ApprovalMissing,
  archiveDocument,
  DocumentArchived,
  DocumentNotPublished,
  DocumentPublished,
  DocumentRevised,
  publishDocument,
} from './contract.ts';
import type { DocumentReply } from './document-reply.ts';
import { assertDraft, requireNewVersion } from './editing.ts';
import { toArchiveRecord, toSummary } from './presenters.ts';
import { mayPublish } from './rules/approval.ts';
import { archive, findBaseline, publish } from './rules/lifecycle.ts';
import { scheduleReview } from './rules/review.ts';
import type { Approvals } from './store/approvals.ts';
import type { DocumentRow } from './store/collections.ts';
import type { DocumentRepository } from './store/document-repository.ts';
import type { Families } from './store/families.ts';
import { toEtag } from './store/preconditions.ts';
import type { Quota } from './store/quota.ts';
import type { Trees } from './store/tree.ts';

/** The dependencies of `publishHandlers`. */
export interface PublishHandlerDeps {
  repository: DocumentRepository;
  trees: Trees;
  families: Families;
  documentReply: DocumentReply;
  approvals: Pick<Approvals, 'get'>;
  quota: Quota;
  now: () => Date;
}

/** Handles `publishDocument` and `archiveDocument`. */
export function publishHandlers({
  repository,
  families,
  trees,
  documentReply,
  approvals,
  quota,
  now,
}: PublishHandlerDeps) {
  return [
    handle(
      publishDocument,
      async ({ actor, params: { doc_id }, call: { ifMatch }, authorize }) => {
        const preconditions = { authorize, ifMatch };
        const consumeQuota = await quota.prepare(actor, now());
        return repository.respond(actor, doc_id, async (within, tx) => {
          const publishDraft = async (draft: DocumentRow, at: Date) => {
            assertDraft(draft);
            await requireApproval(within, draft);
            await requireNewVersion(within, draft, repository);
            const nodes = await trees.findAll(draft, tx);
            // a draft in approval has the hash of its words, which cannot change
            const contentHash = draft.content_hash ?? (await computeContentHash(draft, nodes));
            // before the draft, because a family has at most one published version
            const replaced = isRevision(draft) ? await families.supersede(draft, at, tx) : undefined;
            const published = publish(actor.user_id, contentHash, findBaseline(draft, replaced, at), at);
            const review = scheduleReview({ ...draft, published_at: at });
            return { change: { ...published, ...review }, result: nodes };
          };
          const updated = await repository.update(within, doc_id, preconditions, publishDraft);
          const { document, result: nodes } = updated;
          await consumeQuota(document._id, tx);
          const event = isRevision(document) ? DocumentRevised : DocumentPublished;
          tx.publish(event, { document: toSummary(document) });
          return documentReply.fromNodes(document, nodes);
        });
      },
      {
        authorizeReplay: ({ actor, params, authorize }) =>
          repository.get(actor, params.doc_id, { authorize }),
        replay: documentReply.replay,
      },
    ),

    handle(
      archiveDocument,
      async ({ actor, params: { doc_id }, call: { ifMatch }, authorize }) => {
        const preconditions = { authorize, ifMatch };
        return repository.respond(actor, doc_id, async (within, tx) => {
          const { document } = await repository.update(within, doc_id, preconditions, async (current, at) => {
            if (current.status !== 'published') throw DocumentNotPublished();
            return { change: archive(at) };
          });
          await families.revokeLinks(document, tx);
          tx.publish(DocumentArchived, { document: toSummary(document) });
          return reply(toArchiveRecord(document), { etag: toEtag(document) });
        });
      },
      {
        authorizeReplay: ({ actor, params, authorize }) =>
          repository.get(actor, params.doc_id, { authorize }),
      },
    ),
  ];

  /** Throws `ApprovalMissing` if the draft needs an approval, also for admins. */
  async function requireApproval(actor: Actor, draft: DocumentRow): Promise<void> {
    const { approval } = draft;
    const isApproved = approval?.status === 'approved';
    const request = isApproved ? await approvals.get(actor, approval.id) : undefined;
    // with an approved request, the setting does not matter
    const requiresApproval = !request && (await repository.getPublishSettings(actor)).requiresApproval;
    if (!mayPublish(draft, request?.approvers, requiresApproval)) throw ApprovalMissing();
  }
}

function isRevision({ parent_doc_id }: DocumentRow): boolean {
  return parent_doc_id !== null;
}

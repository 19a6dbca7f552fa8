/** Sets the reviewer and the interval of documents, and confirms that published documents are still correct. */
import { isDeepStrictEqual } from 'node:util';
import { handle } from '#libs/http';
import {
  confirmReview,
  DocumentIsArchived,
  DocumentNotPublished,
  DocumentReviewed,
  DocumentReviewUpdated,
  ReviewerNotMember,
  updateReview,
} from './contract.ts';
import type { DocumentReply } from './document-reply.ts';
import { toSummary } from './presenters.ts';
import { confirm } from './rules/review.ts';
import type { Assignees } from './store/assignees.ts';
import type { DocumentRow } from './store/collections.ts';
import type { DocumentRepository } from './store/document-repository.ts';
import type { Families } from './store/families.ts';
import type { Trees } from './store/tree.ts';

/** The dependencies of `reviewHandlers`. */
export interface ReviewHandlerDeps {
  repository: DocumentRepository;
  families: Pick<Families, 'setReview'>;
  trees: Trees;
  assignees: Assignees;
  documentReply: DocumentReply;
  now: () => Date;
}

/** Handles `updateReview` and `confirmReview`. */
export function reviewHandlers(deps: ReviewHandlerDeps) {
  const { repository, families, trees, assignees, documentReply, now } = deps;
  return [
    handle(
      updateReview,
      async ({ actor, params: { doc_id }, body: { reviewer_id, every_months }, call, authorize }) => {
        const reply = await repository.respond(actor, doc_id, async (within, tx) => {
          const document = await repository.get(within, doc_id, { authorize, ifMatch: call.ifMatch });
          if (document.status === 'archived') throw DocumentIsArchived();
          if (reviewer_id != null && !(await assignees.isMember(actor, reviewer_id)))
            throw ReviewerNotMember();
          const before = getReviewSettings(document);
          const change = {
            ...(reviewer_id !== undefined && { reviewer_id }),
            ...(every_months !== undefined && { review_months: every_months }),
          };
          if (isDeepStrictEqual(getReviewSettings({ ...document, ...change }), before))
            return documentReply.fromNodes(document, await trees.findAll(document, tx));
          await families.setReview(document, { change, at: now() }, tx);
          const changed = await repository.get(within, doc_id);
          tx.publish(DocumentReviewUpdated, { document: toSummary(changed), before });
          return documentReply.fromNodes(changed, await trees.findAll(changed, tx));
        });
        // removed while the transaction ran
        if (reviewer_id != null && (await assignees.clearUnlessMember(actor, reviewer_id)))
          throw ReviewerNotMember();
        return reply;
      },
    ),

    handle(
      confirmReview,
      async ({ actor, params: { doc_id }, body: { comment = null } = {}, call: { ifMatch }, authorize }) =>
        repository.respond(actor, doc_id, async (within, tx) => {
          const preconditions = { authorize, ifMatch };
          const { document } = await repository.update(within, doc_id, preconditions, async (current, at) => {
            if (current.status !== 'published') throw DocumentNotPublished();
            return { change: confirm(current, at) };
          });
          tx.publish(DocumentReviewed, { document: toSummary(document), comment });
          return documentReply.fromNodes(document, await trees.findAll(document, tx));
        }),
      {
        authorizeReplay: ({ actor, params, authorize }) =>
          repository.get(actor, params.doc_id, { authorize }),
        replay: documentReply.replay,
      },
    ),
  ];
}

/** The settings of the review. A row from before they existed has none. */
function getReviewSettings({ reviewer_id = null, review_months = null }: DocumentRow) {
  return { reviewer_id, every_months: review_months };
}

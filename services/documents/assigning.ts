/** Assigns the editor of a document, and clears editors and reviewers who are removed from the organization. */
import { on, type Subscriber } from '#libs/events';
import { handle } from '#libs/http';
import type { Actor, Store } from '#libs/store';
import { MemberRemoved } from '../identity/contract.ts';
import {
  assignEditor,
  DocumentAssigned,
  DocumentIsArchived,
  DocumentReviewUpdated,
  DocumentUnassigned,
  EditorNotMember,
} from './contract.ts';
import type { DocumentReply } from './document-reply.ts';
import { toSummary } from './presenters.ts';
import type { Assignees } from './store/assignees.ts';
import type { DocumentRepository } from './store/document-repository.ts';
import type { Trees } from './store/tree.ts';

/** The dependencies of `editorHandlers`. */
export interface EditorHandlerDeps {
  repository: DocumentRepository;
  trees: Trees;
  assignees: Assignees;
  documentReply: DocumentReply;
}

/** Handles `assignEditor`. */
export function editorHandlers({ repository, trees, assignees, documentReply }: EditorHandlerDeps) {
  return [
    handle(
      assignEditor,
      async ({ actor, params: { doc_id }, body: { editor_id }, call: { ifMatch }, authorize }) => {
        const preconditions = { authorize, ifMatch };
        const reply = await repository.respond(actor, doc_id, async (within, tx) => {
          const updated = await repository.update(within, doc_id, preconditions, async (current) => {
            if (current.status === 'archived') throw DocumentIsArchived();
            if (editor_id !== null && !(await assignees.isMember(actor, editor_id))) throw EditorNotMember();
            return { change: { editor_id }, result: current.editor_id };
          });
          const { document, result: before } = updated;
          const summary = toSummary(document);
          if (editor_id !== null) tx.publish(DocumentAssigned, { document: summary, editor_id });
          else if (before !== null) tx.publish(DocumentUnassigned, { document: summary, before });
          return documentReply.fromNodes(document, await trees.findAll(document, tx));
        });
        if (editor_id !== null && (await assignees.clearUnlessMember(actor, editor_id)))
          throw EditorNotMember();
        return reply;
      },
    ),
  ];
}

/**
 * Clears removed members from the fields of editor and reviewer. Also consumes the events that set these fields: the
 * member may have been removed before the assignment was committed.
 */
export function clearRemovedMembers({
  store,
  assignees,
}: {
  store: Pick<Store, 'processOnce'>;
  assignees: Assignees;
}): Subscriber[] {
  return [
    on(MemberRemoved, ({ data, ...event }) =>
      store.processOnce({ data, ...event }, (tx) =>
        assignees.clearRemoved(toSystemActor(event), data.member.id, new Date(event.occurred_at), tx),
      ),
    ),
    on(DocumentAssigned, async ({ data, ...event }) => {
      await assignees.clearUnlessMember(toSystemActor(event), data.editor_id);
    }),
    on(DocumentReviewUpdated, async ({ data: { document }, ...event }) => {
      const reviewerId = document.review?.reviewer_id;
      if (reviewerId) await assignees.clearUnlessMember(toSystemActor(event), reviewerId);
    }),
  ];
}

function toSystemActor({ organization_id }: { organization_id: string }): Actor {
  return { organization_id, user_id: null };
}

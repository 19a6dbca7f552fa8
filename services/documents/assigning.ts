/** Assigns the editor of a document, and clears editors who are removed from the organization. */
import { on, type Subscriber } from '#libs/events';
import { handle } from '#libs/http';
import type { Actor, Store } from '#libs/store';
import { MemberRemoved } from '../identity/contract.ts';
import { assignEditor, DocumentAssigned, DocumentIsArchived, EditorNotMember } from './contract.ts';
import type { DocumentReply } from './document-reply.ts';
import { toSummary } from './presenters.ts';
import type { DocumentRepository } from './store/document-repository.ts';
import type { Editors } from './store/editors.ts';
import type { Trees } from './store/tree.ts';

/** The dependencies of `editorHandlers`. */
export interface EditorHandlerDeps {
  store: Pick<Store, 'transact' | 'processOnce'>;
  repository: DocumentRepository;
  trees: Trees;
  editors: Editors;
  documentReply: DocumentReply;
}

/** Handles `assignEditor`. */
export function editorHandlers({ store, repository, trees, editors, documentReply }: EditorHandlerDeps) {
  return [
    handle(
      assignEditor,
      async ({ actor, params: { doc_id }, body: { editor_id }, call: { ifMatch }, authorize }) => {
        const preconditions = { authorize, ifMatch };
        const reply = await repository.respond(actor, doc_id, async (within, tx) => {
          const { document } = await repository.update(within, doc_id, preconditions, async (current) => {
            if (current.status === 'archived') throw DocumentIsArchived();
            if (editor_id !== null && !(await editors.isMember(actor, editor_id))) throw EditorNotMember();
            return { change: { editor_id } };
          });
          if (editor_id !== null) tx.publish(DocumentAssigned, { document: toSummary(document), editor_id });
          return documentReply.fromNodes(document, await trees.findAll(document, tx));
        });
        if (editor_id !== null && (await clearUnlessMember({ store, editors }, actor, editor_id)))
          throw EditorNotMember();
        return reply;
      },
    ),
  ];
}

/**
 * Clears removed members from the editor field. Also consumes `document.assigned`: the member may have been
 * removed before the assignment was committed.
 */
export function clearRemovedEditors({
  store,
  editors,
}: Pick<EditorHandlerDeps, 'store' | 'editors'>): Subscriber[] {
  return [
    on(MemberRemoved, ({ data, ...event }) =>
      store.processOnce({ data, ...event }, (tx) => editors.clear(toSystemActor(event), data.member.id, tx)),
    ),
    on(DocumentAssigned, async ({ data, ...event }) => {
      await clearUnlessMember({ store, editors }, toSystemActor(event), data.editor_id);
    }),
  ];
}

function toSystemActor({ organization_id }: { organization_id: string }): Actor {
  return { organization_id, user_id: null };
}

/** Clears the user from all documents and returns true, unless the user is a member. */
async function clearUnlessMember(
  { store, editors }: Pick<EditorHandlerDeps, 'store' | 'editors'>,
  actor: Actor,
  editorId: string,
): Promise<boolean> {
  if (await editors.isMember(actor, editorId)) return false;
  await store.transact(actor, (tx) => editors.clear(actor, editorId, tx));
  return true;
}

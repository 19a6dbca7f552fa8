/** Assigning: the editor of a document, who is a member for as long as they are its editor. */
import { on, type Subscriber } from '#libs/events';
import { handle } from '#libs/http';
import type { Actor, Store } from '#libs/store';
import { MemberRemoved } from '../identity/contract.ts';
import { assignEditor, DocumentAssigned, DocumentIsArchived, EditorNotMember } from './contract.ts';
import type { DocumentReply } from './document-reply.ts';
import { requireManager } from './editing.ts';
import { toSummary } from './presenters.ts';
import type { DocumentRow } from './store/collections.ts';
import type { DocumentRepository } from './store/document-repository.ts';
import type { Editors } from './store/editors.ts';
import type { Trees } from './store/tree.ts';

/** What assigning needs. */
export interface Assigning {
  store: Pick<Store, 'transact' | 'processOnce'>;
  library: DocumentRepository;
  trees: Trees;
  editors: Editors;
  show: DocumentReply;
}

/** The operation on a document's editor. */
export function assigning({ store, library, trees, editors, show }: Assigning) {
  return [
    handle(assignEditor, async ({ actor, params, body, call }) => {
      const { editor_id } = body;
      const conditions = { authorize: requireManager(actor, 'assign the editor of'), ifMatch: call.ifMatch };
      const reply = await library.change(actor, params.doc_id, conditions, async (current, tx, at) => {
        if (current.status === 'archived') throw DocumentIsArchived();
        if (editor_id !== null) {
          if (!(await editors.isMember(actor, editor_id))) throw EditorNotMember();
          const assigned = toSummary({ ...current, editor_id, updated_at: at });
          tx.publish(DocumentAssigned, { document: assigned, editor_id });
        }
        const nodes = await trees.all(current, tx);
        return { change: { editor_id }, reply: (document: DocumentRow) => show.made(document, nodes) };
      });
      if (editor_id !== null && (await clearedUnlessMember({ store, editors }, actor, editor_id)))
        throw EditorNotMember();
      return reply;
    }),
  ];
}

/** What assigning hears: that a member is gone, and its own assignments, in case a removal was heard before they were committed. */
export function clearRemovedEditors({ store, editors }: Pick<Assigning, 'store' | 'editors'>): Subscriber[] {
  return [
    on(MemberRemoved, ({ data, ...event }) =>
      store.processOnce({ data, ...event }, (tx) => editors.clear(systemOf(event), data.member.id, tx)),
    ),
    on(DocumentAssigned, async ({ data, ...event }) => {
      await clearedUnlessMember({ store, editors }, systemOf(event), data.editor_id);
    }),
  ];
}

function systemOf({ organization_id }: { organization_id: string }): Actor {
  return { organization_id, user_id: null };
}

/** Takes somebody who is no member any more off all documents; gives whether that was so. */
async function clearedUnlessMember(
  { store, editors }: Pick<Assigning, 'store' | 'editors'>,
  acting: Actor,
  editorId: string,
): Promise<boolean> {
  if (await editors.isMember(acting, editorId)) return false;
  await store.transact(acting, (tx) => editors.clear(acting, editorId, tx));
  return true;
}

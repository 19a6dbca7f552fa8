/** Revising: a new draft of a published document, and the history of all that was published before it. */
import { newId } from '#libs/contract';
import { handle } from '#libs/http';
import type { Transaction } from '#libs/store';
import { DocumentNotPublished, listVersions, reviseDocument } from './contract.ts';
import type { DocumentReply } from './document-reply.ts';
import { requireManager } from './editing.ts';
import { toHistoryRecord } from './presenters.ts';
import { historyOf, revisionFields } from './rules/lifecycle.ts';
import type { DocumentRow } from './store/collections.ts';
import type { DocumentRepository } from './store/document-repository.ts';
import type { Families } from './store/families.ts';
import type { Trees } from './store/tree.ts';

/** What revising needs. */
export interface Revising {
  library: DocumentRepository;
  families: Families;
  trees: Trees;
  show: DocumentReply;
}

/** The operations on what a document was before and will be next. */
export function revising({ library, families, trees, show }: Revising) {
  return [
    handle(
      reviseDocument,
      async ({ actor, params, call }) => {
        const conditions = { authorize: requireManager(actor, 'revise'), ifMatch: call.ifMatch };
        const revise = async (original: DocumentRow, tx: Transaction, at: Date) => {
          if (original.status !== 'published') throw DocumentNotPublished();
          const draft = revisionOf(original, at);
          await library.create({ ...actor, tx }, draft, []);
          return show.made(draft, await trees.copyTree(original, draft, null, at, tx));
        };
        return families.hold(actor, params.doc_id, conditions, revise);
      },
      {
        authorizeReplay: ({ actor, params }) =>
          library.check(actor, params.doc_id, requireManager(actor, 'revise')),
        replay: show.replay,
      },
    ),

    handle(listVersions, async ({ actor, params }) =>
      historyOf(await families.members(actor, params.doc_id)).map(toHistoryRecord),
    ),
  ];
}

function revisionOf(original: DocumentRow, at: Date): DocumentRow {
  return {
    _id: newId(),
    ...revisionFields(original),
    parent_doc_id: original._id,
    status: 'draft',
    published_at: null,
    archived_at: null,
    created_at: at,
    updated_at: at,
    row_version: 1,
  };
}

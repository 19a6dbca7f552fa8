/** Creates revision drafts of published documents and lists the published versions. */
import { newId } from '#libs/contract';
import { handle } from '#libs/http';
import type { Transaction } from '#libs/store';
import { DocumentNotPublished, listVersions, reviseDocument } from './contract.ts';
import type { DocumentReply } from './document-reply.ts';
import { requireManager } from './editing.ts';
import { toHistoryRecord } from './presenters.ts';
import { revisionFields, toHistory } from './rules/lifecycle.ts';
import type { DocumentRow } from './store/collections.ts';
import type { DocumentRepository } from './store/document-repository.ts';
import type { Families } from './store/families.ts';
import type { Trees } from './store/tree.ts';

/** The dependencies of `revisionHandlers`. */
export interface RevisionHandlerDeps {
  repository: DocumentRepository;
  families: Families;
  trees: Trees;
  documentReply: DocumentReply;
}

/** Handles `reviseDocument` and `listVersions`. */
export function revisionHandlers({ repository, families, trees, documentReply }: RevisionHandlerDeps) {
  return [
    handle(
      reviseDocument,
      async ({ actor, params, call }) => {
        const preconditions = { authorize: requireManager(actor, 'revise'), ifMatch: call.ifMatch };
        const revise = async (original: DocumentRow, tx: Transaction, at: Date) => {
          if (original.status !== 'published') throw DocumentNotPublished();
          const draft = createRevision(original, at);
          await repository.create({ ...actor, tx }, draft, []);
          return documentReply.fromNodes(draft, await trees.copyTree(original, draft, null, at, tx));
        };
        return families.lockForRevision(actor, params.doc_id, preconditions, revise);
      },
      {
        authorizeReplay: ({ actor, params }) =>
          repository.check(actor, params.doc_id, requireManager(actor, 'revise')),
        replay: documentReply.replay,
      },
    ),

    handle(listVersions, async ({ actor, params }) =>
      toHistory(await families.findVersions(actor, params.doc_id)).map(toHistoryRecord),
    ),
  ];
}

function createRevision(original: DocumentRow, at: Date): DocumentRow {
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

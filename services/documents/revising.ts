/** Creates revision drafts of published documents and lists the published versions. */
import { newId } from '#libs/contract';
import { handle } from '#libs/http';
import { DocumentNotPublished, listVersions, reviseDocument } from './contract.ts';
import type { DocumentReply } from './document-reply.ts';
import { toHistoryRecord } from './presenters.ts';
import { newVersionFields, revisionFields, toHistory } from './rules/lifecycle.ts';
import type { DocumentRow } from './store/collections.ts';
import type { DocumentRepository } from './store/document-repository.ts';
import type { Families } from './store/families.ts';

/** The dependencies of `revisionHandlers`. */
export interface RevisionHandlerDeps {
  repository: DocumentRepository;
  families: Families;
  documentReply: DocumentReply;
  now: () => Date;
}

/** Handles `reviseDocument` and `listVersions`. */
export function revisionHandlers({ repository, families, documentReply, now }: RevisionHandlerDeps) {
  return [
    handle(
      reviseDocument,
      async ({ actor, params: { doc_id }, call: { ifMatch }, authorize }) => {
        return repository.respond(actor, doc_id, async (within, tx) => {
          const original = await repository.get(within, doc_id, { authorize, ifMatch });
          if (original.status !== 'published') throw DocumentNotPublished();
          await families.lockForRevision(original, tx);
          const draft = createRevision(original, now());
          const nodes = await repository.copy(within, original, draft);
          return documentReply.fromNodes(draft, nodes);
        });
      },
      {
        authorizeReplay: ({ actor, params, authorize }) =>
          repository.get(actor, params.doc_id, { authorize }),
        replay: documentReply.replay,
      },
    ),

    handle(listVersions, async ({ actor, params }) =>
      toHistory(await families.getVersions(actor, params.doc_id)).map(toHistoryRecord),
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
    ...newVersionFields,
    created_at: at,
    updated_at: at,
    row_version: 1,
  };
}

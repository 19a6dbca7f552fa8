/** Creates revision drafts of published documents, also from archived versions, and lists the published versions. */
import { newId } from '#libs/contract';
import { type HandlerInput, handle } from '#libs/http';
import {
  DocumentNotArchived,
  DocumentNotPublished,
  listVersions,
  restoreDocument,
  reviseDocument,
} from './contract.ts';
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

/** Handles `reviseDocument`, `restoreDocument` and `listVersions`. */
export function revisionHandlers({ repository, families, documentReply, now }: RevisionHandlerDeps) {
  const authorizeReplay = ({ actor, params, authorize }: HandlerInput<typeof reviseDocument>) =>
    repository.get(actor, params.doc_id, { authorize });
  return [
    handle(
      reviseDocument,
      async ({ actor, params: { doc_id }, call: { ifMatch }, authorize }) => {
        return repository.respond(actor, doc_id, async (within, tx) => {
          const original = await repository.get(within, doc_id, { authorize, ifMatch });
          if (original.status !== 'published') throw DocumentNotPublished();
          await families.lockForRevision(original, tx);
          const draft = createRevision(original, original, now());
          const nodes = await repository.copy(within, original, draft);
          return documentReply.fromNodes(draft, nodes);
        });
      },
      { authorizeReplay, replay: documentReply.replay },
    ),

    handle(
      restoreDocument,
      async ({ actor, params: { doc_id }, call: { ifMatch }, authorize }) => {
        return repository.respond(actor, doc_id, async (within, tx) => {
          const archived = await repository.get(within, doc_id, { authorize, ifMatch });
          if (archived.status !== 'archived') throw DocumentNotArchived();
          const original = (await families.findPublished(archived, tx)) ?? archived;
          await families.lockForRevision(original, tx);
          const draft = createRevision(original, archived, now());
          const nodes = await repository.copy(within, archived, draft);
          return documentReply.fromNodes(draft, nodes);
        });
      },
      { authorizeReplay, replay: documentReply.replay },
    ),

    handle(listVersions, async ({ actor, params }) =>
      toHistory(await families.getVersions(actor, params.doc_id)).map(toHistoryRecord),
    ),
  ];
}

/** Creates the row of a revision of `original` with the title, department and size of the tree of `source`. */
function createRevision(original: DocumentRow, source: DocumentRow, at: Date): DocumentRow {
  const { title, department, node_count, content_bytes } = source;
  return {
    _id: newId(),
    ...revisionFields(original),
    ...{ title, department, node_count, content_bytes },
    parent_doc_id: original._id,
    status: 'draft',
    published_at: null,
    archived_at: null,
    ...newVersionFields,
    contributor_ids: [],
    created_at: at,
    updated_at: at,
    row_version: 1,
  };
}

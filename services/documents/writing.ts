/** Creates documents, changes their fields, deletes drafts and duplicates documents. */
import { type BodyOf, newId } from '#libs/contract';
import { handle } from '#libs/http';
import type { Store } from '#libs/store';
import {
  createDocument,
  DocumentDeleted,
  DocumentNotDraft,
  deleteDocument,
  duplicateDocument,
  updateDocument,
  VersionUnchanged,
} from './contract.ts';
import type { DocumentReply } from './document-reply.ts';
import { assertEditable, requireEditor, requireManager } from './editing.ts';
import { toSummary } from './presenters.ts';
import { getComparedDocumentId, repeatsVersion } from './rules/version.ts';
import type { DocumentRow } from './store/collections.ts';
import type { Change, DocumentRepository } from './store/document-repository.ts';
import { flattenTree } from './tree-input.ts';

/** The dependencies of `documentHandlers`. */
export interface DocumentHandlerDeps {
  store: Pick<Store, 'respond'>;
  repository: DocumentRepository;
  documentReply: DocumentReply;
  now: () => Date;
}

/** Handles `createDocument`, `updateDocument`, `deleteDocument` and `duplicateDocument`. */
export function documentHandlers({ store, repository, documentReply, now }: DocumentHandlerDeps) {
  return [
    handle(
      createDocument,
      async ({ actor, body }) => {
        const at = now();
        const blank = createDraft(actor, at, body);
        const { nodes, ...size } = flattenTree(blank, body.nodes ?? [], actor.user_id, at);
        const document = { ...blank, ...size };
        return store.respond(actor, async (within) => {
          await repository.create(within, document, nodes);
          return documentReply.fromNodes(document, nodes);
        });
      },
      { replay: documentReply.replay },
    ),

    handle(updateDocument, async ({ actor, params, body, call }) => {
      const preconditions = { authorize: requireEditor(actor), ifMatch: call.ifMatch };
      const updated = await repository.changeRow(actor, params.doc_id, preconditions, async (current) => {
        await assertEditable(current, () => repository.locksPublished(actor));
        const original = getComparedDocumentId(current, body);
        if (original && repeatsVersion(body.version, (await repository.find(actor, original)).version))
          throw VersionUnchanged();
        return toChange(body);
      });
      return documentReply.fromRow(actor, updated);
    }),

    handle(deleteDocument, async ({ actor, params, call }) => {
      const preconditions = { authorize: requireManager(actor, 'delete'), ifMatch: call.ifMatch };
      await repository.remove(actor, params.doc_id, preconditions, async (draft, tx) => {
        if (draft.status !== 'draft') throw DocumentNotDraft();
        tx.publish(DocumentDeleted, { document: toSummary(draft) });
      });
      return undefined;
    }),

    handle(
      duplicateDocument,
      async ({ actor, params, call }) => {
        const preconditions = { authorize: allowAnyReader, ifMatch: call.ifMatch };
        const toCopy = (original: DocumentRow, at: Date): DocumentRow => {
          const { node_count, content_bytes } = original;
          return { ...createDraft(actor, at, original), node_count, content_bytes };
        };
        return repository.copy(actor, params.doc_id, preconditions, toCopy, ({ document, nodes }) =>
          documentReply.fromNodes(document, nodes),
        );
      },
      {
        authorizeReplay: ({ actor, params }) => repository.check(actor, params.doc_id, allowAnyReader),
        replay: documentReply.replay,
      },
    ),
  ];
}

/** Allows every actor who can read the document. */
const allowAnyReader = () => undefined;

interface Fields {
  title: string;
  version?: string | null | undefined;
  department?: string | null | undefined;
}

/** Maps a request body to a change of the fields that it contains. */
function toChange({ title, version, department }: BodyOf<typeof updateDocument>): Change {
  return {
    ...(title !== undefined && { title }),
    ...(version !== undefined && { version }),
    ...(department !== undefined && { department }),
  };
}

/** Creates an empty draft with these fields. */
function createDraft(
  actor: { organization_id: string; user_id: string },
  at: Date,
  { title, version, department }: Fields,
): DocumentRow {
  const _id = newId();
  return {
    _id,
    organization_id: actor.organization_id,
    family_id: _id,
    created_by: actor.user_id,
    editor_id: null,
    parent_doc_id: null,
    title,
    version: version ?? null,
    department: department ?? null,
    status: 'draft',
    published_at: null,
    archived_at: null,
    created_at: at,
    updated_at: at,
    row_version: 1,
    share_epoch: 0,
    node_count: 0,
    content_bytes: 0,
  };
}

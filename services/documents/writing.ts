/** Writing: making documents, changing their fields, deleting drafts. */
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
import { repeatsVersion, versionToDifferFrom } from './rules/version.ts';
import type { DocumentRow } from './store/collections.ts';
import type { Change, DocumentRepository } from './store/document-repository.ts';
import { flattenTree } from './tree-input.ts';

/** What writing needs. */
export interface Writing {
  store: Pick<Store, 'respond'>;
  library: DocumentRepository;
  show: DocumentReply;
  now: () => Date;
}

/** The operations that make, change and delete documents. */
export function writing({ store, library, show, now }: Writing) {
  return [
    handle(
      createDocument,
      async ({ actor, body }) => {
        const at = now();
        const blank = draftOf(actor, at, body);
        const { nodes, ...size } = flattenTree(blank, body.nodes ?? [], actor.user_id, at);
        const document = { ...blank, ...size };
        return store.respond(actor, async (within) => {
          await library.create(within, document, nodes);
          return show.made(document, nodes);
        });
      },
      { replay: show.replay },
    ),

    handle(updateDocument, async ({ actor, params, body, call }) => {
      const conditions = { authorize: requireEditor(actor), ifMatch: call.ifMatch };
      const changed = await library.changeRow(actor, params.doc_id, conditions, async (current) => {
        await assertEditable(current, () => library.locksPublished(actor));
        const original = versionToDifferFrom(current, body);
        if (original && repeatsVersion(body.version, (await library.find(actor, original)).version))
          throw VersionUnchanged();
        return fieldsOf(body);
      });
      return show.row(actor, changed);
    }),

    handle(deleteDocument, async ({ actor, params, call }) => {
      const conditions = { authorize: requireManager(actor, 'delete'), ifMatch: call.ifMatch };
      await library.remove(actor, params.doc_id, conditions, async (draft, tx) => {
        if (draft.status !== 'draft') throw DocumentNotDraft();
        tx.publish(DocumentDeleted, { document: toSummary(draft) });
      });
      return undefined;
    }),

    handle(
      duplicateDocument,
      async ({ actor, params, call }) => {
        const conditions = { authorize: anyone, ifMatch: call.ifMatch };
        const make = (original: DocumentRow, at: Date): DocumentRow => {
          const { node_count, content_bytes } = original;
          return { ...draftOf(actor, at, original), node_count, content_bytes };
        };
        return library.copy(actor, params.doc_id, conditions, make, ({ document, nodes }) =>
          show.made(document, nodes),
        );
      },
      {
        authorizeReplay: ({ actor, params }) => library.check(actor, params.doc_id, anyone),
        replay: show.replay,
      },
    ),
  ];
}

/** Keeps nobody away who can read the document. */
const anyone = () => undefined;

interface Fields {
  title: string;
  version?: string | null | undefined;
  department?: string | null | undefined;
}

/** The fields that are named. */
function fieldsOf({ title, version, department }: BodyOf<typeof updateDocument>): Change {
  return {
    ...(title !== undefined && { title }),
    ...(version !== undefined && { version }),
    ...(department !== undefined && { department }),
  };
}

/** A blank draft with these fields. */
function draftOf(
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

/** Creates documents, changes their fields, deletes drafts and duplicates documents. */
import { isDeepStrictEqual } from 'node:util';
import type { BodyOf } from '#libs/contract';
import { handle } from '#libs/http';
import { addWarnings, rejectWarnings } from './content-warnings.ts';
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
import { assertDraft, assertEditable, assertNotInApproval } from './editing.ts';
import { createDraft } from './new-draft.ts';
import { toSummary } from './presenters.ts';
import { getComparedDocumentId, repeatsVersion } from './rules/version.ts';
import type { Assets } from './store/assets.ts';
import type { DocumentRow } from './store/collections.ts';
import type { Change } from './store/document-change.ts';
import type { DocumentRepository } from './store/document-repository.ts';
import type { ChargedActor } from './store/storage-charges.ts';
import { flattenTree } from './tree-input.ts';

/** The dependencies of `documentHandlers`. */
export interface DocumentHandlerDeps {
  repository: DocumentRepository;
  assets: Pick<Assets, 'reference'>;
  documentReply: DocumentReply;
  now: () => Date;
}

/** Handles `createDocument`, `updateDocument`, `deleteDocument` and `duplicateDocument`. */
export function documentHandlers({ repository, assets, documentReply, now }: DocumentHandlerDeps) {
  return [
    handle(
      createDocument,
      async ({ actor, query, body }) => {
        rejectWarnings(query, body.warnings);
        const at = now();
        const blank = createDraft(actor, at, body);
        const { nodes, ...size } = await flattenTree(blank, body.nodes, actor.user_id, at);
        const document = { ...blank, ...size };
        const charged = await repository.prepareCharge(actor);
        const create = async (within: ChargedActor) => {
          if (within.tx) await assets.reference(within, body.assets, within.tx);
          await repository.create(within, document, nodes);
          return addWarnings(await documentReply.fromNodes(document, nodes), body.warnings);
        };
        // a single insert needs no transaction, unless the response, a charge or a reference is stored with it
        const isSingle = !actor.idempotency && !charged.charge.isLimited && body.assets.length === 0;
        return isSingle ? create(charged) : repository.respondWithNew(charged, create);
      },
      {
        replay: async ({ actor, body }, key) =>
          addWarnings(await documentReply.replay({ actor }, key), body.warnings),
      },
    ),

    handle(updateDocument, async ({ actor, params, body, call: { ifMatch }, authorize }) => {
      const preconditions = { authorize, ifMatch };
      const decide = async (current: DocumentRow) => {
        if (current.status === 'published' && describesChange(body)) throw DocumentNotDraft();
        await assertEditable(current, () => repository.getPublishSettings(actor));
        const original = getComparedDocumentId(current, body);
        if (original && repeatsVersion(body.version, (await repository.get(actor, original)).version))
          throw VersionUnchanged();
        const change = toChange(body);
        if (hasAll(current, change)) return { change, isUnchanged: true };
        // before the row is changed, which fails if the tree has changed meanwhile
        return { change, result: await documentReply.renderBefore(current) };
      };
      const { document, result } = await repository.update(actor, params.doc_id, preconditions, decide);
      return result ? documentReply.fromRendered(document, result) : documentReply.fromRow(actor, document);
    }),

    handle(deleteDocument, async ({ actor, params, call: { ifMatch }, authorize }) => {
      const preconditions = { authorize, ifMatch };
      return repository.respond(actor, params.doc_id, async (within, tx) => {
        const draft = await repository.get(within, params.doc_id, preconditions);
        assertDraft(draft);
        assertNotInApproval(draft);
        await repository.delete(within, draft);
        tx.publish(DocumentDeleted, { document: toSummary(draft) });
        return undefined;
      });
    }),

    handle(
      duplicateDocument,
      async ({ actor, params, call: { ifMatch } }) => {
        return repository.respondWithNew(await repository.prepareCharge(actor), async (within) => {
          const original = await repository.get(within, params.doc_id, { ifMatch });
          const { node_count, content_bytes } = original;
          const draft = { ...createDraft(actor, now(), original), node_count, content_bytes };
          const nodes = await repository.copy(within, original, draft);
          return documentReply.fromNodes(draft, nodes);
        });
      },
      {
        authorizeReplay: ({ actor, params }) => repository.get(actor, params.doc_id),
        replay: documentReply.replay,
      },
    ),
  ];
}

/** Returns true if a request sets what only a draft can change: publishing fixes its change summary. */
function describesChange({ change_summary, minor_change }: BodyOf<typeof updateDocument>): boolean {
  return change_summary !== undefined || minor_change !== undefined;
}

/** Returns true if a document has all values of a change. A row from before a field existed does not have the field. */
function hasAll(document: DocumentRow, change: Change): boolean {
  const { language = null, change_summary = null, minor_change = false } = document;
  const current = { ...document, language, change_summary, minor_change };
  return isDeepStrictEqual({ ...current, ...change }, current);
}

/** Maps a request body to a change of the fields that it contains. */
function toChange({
  title,
  version,
  department,
  language,
  change_summary,
  minor_change,
}: BodyOf<typeof updateDocument>): Change {
  return {
    ...(title !== undefined && { title }),
    ...(version !== undefined && { version }),
    ...(department !== undefined && { department }),
    ...(language !== undefined && { language }),
    ...(change_summary !== undefined && { change_summary }),
    ...(minor_change !== undefined && { minor_change }),
  };
}

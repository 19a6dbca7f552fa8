/** Publishing and archiving: from draft to published, for one publish event of the plan, and out of the library. */
import { handle, reply } from '#libs/http';
import type { Transaction } from '#libs/store';
import {
  archiveDocument,
  DocumentArchived,
  DocumentNotDraft,
  DocumentNotPublished,
  DocumentPublished,
  DocumentRevised,
  publishDocument,
} from './contract.ts';
import type { DocumentReply } from './document-reply.ts';
import { requireManager, requireNewVersion } from './editing.ts';
import { toArchiveRecord, toSummary } from './presenters.ts';
import { archive, publish } from './rules/lifecycle.ts';
import type { DocumentRow } from './store/collections.ts';
import type { DocumentRepository, FastPath } from './store/document-repository.ts';
import type { Families } from './store/families.ts';
import { etagOf } from './store/preconditions.ts';
import type { Quota } from './store/quota.ts';
import type { Trees } from './store/tree.ts';

/** What publishing needs. */
export interface Publishing {
  library: DocumentRepository;
  trees: Trees;
  families: Families;
  show: DocumentReply;
  quota: Quota;
  now: () => Date;
}

/** A revision is not among them: what it replaces must be archived before. */
const firstPublication: FastPath = { from: { status: 'draft', parent_doc_id: null }, change: publish };

/** The operations that publish and archive. */
export function publishing({ library, families, trees, show, quota, now }: Publishing) {
  return [
    handle(
      publishDocument,
      async ({ actor, params, call }) => {
        const useUp = await quota.prepare(actor, now());
        const conditions = { authorize: requireManager(actor, 'publish'), ifMatch: call.ifMatch };
        const publishDraft = async (draft: DocumentRow, tx: Transaction, at: Date) => {
          if (draft.status !== 'draft') throw DocumentNotDraft();
          await requireNewVersion(actor, draft, library, tx);
          const isRevision = draft.parent_doc_id !== null;
          if (isRevision) await families.supersede(draft, at, tx);
          await useUp(draft._id, tx);
          const change = publish(at);
          const document = toSummary({ ...draft, ...change, updated_at: at });
          tx.publish(isRevision ? DocumentRevised : DocumentPublished, { document });
          const nodes = await trees.all(draft, tx);
          return { change, reply: (document: DocumentRow) => show.made(document, nodes) };
        };
        return library.change(actor, params.doc_id, conditions, publishDraft, firstPublication);
      },
      {
        authorizeReplay: ({ actor, params }) =>
          library.check(actor, params.doc_id, requireManager(actor, 'publish')),
        replay: show.replay,
      },
    ),

    handle(
      archiveDocument,
      async ({ actor, params, call }) => {
        const conditions = { authorize: requireManager(actor, 'archive'), ifMatch: call.ifMatch };
        return library.change(actor, params.doc_id, conditions, async (current, tx, at) => {
          if (current.status !== 'published') throw DocumentNotPublished();
          await families.endLinks(current, tx);
          const change = archive(at);
          tx.publish(DocumentArchived, { document: toSummary({ ...current, ...change, updated_at: at }) });
          const toReply = (document: DocumentRow) =>
            reply(toArchiveRecord(document), { etag: etagOf(document) });
          return { change, reply: toReply };
        });
      },
      {
        authorizeReplay: ({ actor, params }) =>
          library.check(actor, params.doc_id, requireManager(actor, 'archive')),
      },
    ),
  ];
}

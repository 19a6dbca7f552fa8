/** Publishes drafts, which consumes one publish event of the plan, and archives published documents. */
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
import { toEtag } from './store/preconditions.ts';
import type { Quota } from './store/quota.ts';
import type { Trees } from './store/tree.ts';

/** The dependencies of `publishHandlers`. */
export interface PublishHandlerDeps {
  repository: DocumentRepository;
  trees: Trees;
  families: Families;
  documentReply: DocumentReply;
  quota: Quota;
  now: () => Date;
}

/** Excludes revisions: the version that a revision replaces must be archived first. */
const firstPublication: FastPath = { match: { status: 'draft', parent_doc_id: null }, change: publish };

/** Handles `publishDocument` and `archiveDocument`. */
export function publishHandlers({
  repository,
  families,
  trees,
  documentReply,
  quota,
  now,
}: PublishHandlerDeps) {
  return [
    handle(
      publishDocument,
      async ({ actor, params, call }) => {
        const consumeQuota = await quota.prepare(actor, now());
        const preconditions = { authorize: requireManager(actor, 'publish'), ifMatch: call.ifMatch };
        const publishDraft = async (draft: DocumentRow, tx: Transaction, at: Date) => {
          if (draft.status !== 'draft') throw DocumentNotDraft();
          await requireNewVersion(actor, draft, repository, tx);
          const isRevision = draft.parent_doc_id !== null;
          if (isRevision) await families.supersede(draft, at, tx);
          await consumeQuota(draft._id, tx);
          const change = publish(at);
          const document = toSummary({ ...draft, ...change, updated_at: at });
          tx.publish(isRevision ? DocumentRevised : DocumentPublished, { document });
          const nodes = await trees.findAll(draft, tx);
          return { change, reply: (document: DocumentRow) => documentReply.fromNodes(document, nodes) };
        };
        return repository.change(actor, params.doc_id, preconditions, publishDraft, firstPublication);
      },
      {
        authorizeReplay: ({ actor, params }) =>
          repository.check(actor, params.doc_id, requireManager(actor, 'publish')),
        replay: documentReply.replay,
      },
    ),

    handle(
      archiveDocument,
      async ({ actor, params, call }) => {
        const preconditions = { authorize: requireManager(actor, 'archive'), ifMatch: call.ifMatch };
        return repository.change(actor, params.doc_id, preconditions, async (current, tx, at) => {
          if (current.status !== 'published') throw DocumentNotPublished();
          await families.revokeLinks(current, tx);
          const change = archive(at);
          tx.publish(DocumentArchived, { document: toSummary({ ...current, ...change, updated_at: at }) });
          const toReply = (document: DocumentRow) =>
            reply(toArchiveRecord(document), { etag: toEtag(document) });
          return { change, reply: toReply };
        });
      },
      {
        authorizeReplay: ({ actor, params }) =>
          repository.check(actor, params.doc_id, requireManager(actor, 'archive')),
      },
    ),
  ];
}

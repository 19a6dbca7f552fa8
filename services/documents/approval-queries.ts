/** Handles the operations that read requests for approval. */
import { z } from 'zod';
import { id, parseCursor } from '#libs/contract';
import { handle, toPage } from '#libs/http';
import type { Actor } from '#libs/store';
import { getApproval, listApprovals } from './contract.ts';
import { toApproval } from './presenters.ts';
import type { Approvals } from './store/approvals.ts';
import type { DocumentRepository } from './store/document-repository.ts';
import { unknownDocument } from './unknown-document.ts';

/** The dependencies of `approvalQueryHandlers`. */
export interface ApprovalQueryDeps {
  repository: Pick<DocumentRepository, 'find'>;
  approvals: Approvals;
}

const position = z.tuple([id]);

/** Creates the handlers. */
export function approvalQueryHandlers({ repository, approvals }: ApprovalQueryDeps) {
  return [
    handle(listApprovals, async ({ actor, query }) => {
      const { cursor, limit, document_id, status, awaiting } = query;
      const [from] = parseCursor(cursor, position) ?? [];
      const awaited = awaiting && actor.user_id;
      const found = await approvals.list(actor, { document_id, status, awaited }, { from, limit: limit + 1 });
      if (document_id !== undefined && found.length === 0) await assertKnown(actor, document_id);
      return toPage({ found, limit, toItem: toApproval, position: (_, next) => [next._id] });
    }),

    handle(getApproval, async ({ actor, params }) =>
      toApproval(await approvals.get(actor, params.approval_id)),
    ),
  ];

  /** Throws `InvalidRequest` if the document does not exist. The requests of a deleted draft are kept. */
  async function assertKnown(actor: Actor, document_id: string): Promise<void> {
    if (await repository.find(actor, document_id)) return;
    const [request] = await approvals.list(actor, { document_id }, { from: undefined, limit: 1 });
    if (!request) throw unknownDocument('query');
  }
}

/** Reads and changes families in MongoDB: a document and its revisions, at most one of them published. */
import type { Actor, Store, Transaction } from '#libs/store';
import { archive } from '../rules/lifecycle.ts';
import { type DocumentRow, documents } from './collections.ts';
import type { DocumentRepository } from './document-repository.ts';
import type { Preconditions } from './preconditions.ts';

/** Creates the store of families. */
export function families(store: Store, repository: DocumentRepository, now: () => Date) {
  const rows = store.rows(documents);

  return {
    /** Archives the published version in a draft's family, if any, because the draft replaces it. */
    async supersede(draft: DocumentRow, at: Date, tx: Transaction): Promise<void> {
      const { organization_id, family_id } = draft;
      const current = { organization_id, family_id, status: 'published' as const };
      const before = await rows.findOne(current, null, { session: tx.session }).lean();
      if (before) await repository.write(before, archive(at), at, tx);
    },

    /** Revokes all public links of a family permanently, including those of its drafts. Changes no ETag. */
    async revokeLinks(
      { organization_id, family_id, share_epoch }: DocumentRow,
      tx: Transaction,
    ): Promise<void> {
      const change = { share_epoch: share_epoch + 1 };
      await rows.updateMany({ organization_id, family_id }, change, { session: tx.session });
    },

    /**
     * Runs `work` with a document in one transaction and returns its result. Increments a hidden field of the
     * row first, so that a concurrent archive, publish or tree change conflicts and runs before or after.
     */
    lockForRevision<R>(
      actor: Actor,
      id: string,
      preconditions: Preconditions,
      work: (document: DocumentRow, tx: Transaction, at: Date) => Promise<R>,
    ): Promise<R> {
      return store.withLock(id, () =>
        store.respond(actor, async (_, tx) => {
          const document = await repository.findAuthorized(actor, id, preconditions, tx);
          await rows.updateOne({ _id: id }, { $inc: { revisions: 1 } }, { session: tx.session });
          return work(document, tx, now());
        }),
      );
    },

    /** Returns all versions in the family of a document, in no particular order, or throws `NotFound`. */
    async findVersions(actor: Actor, id: string): Promise<DocumentRow[]> {
      const { organization_id, family_id } = await repository.find(actor, id);
      return rows.find({ organization_id, family_id }).lean();
    },
  };
}

export type Families = ReturnType<typeof families>;

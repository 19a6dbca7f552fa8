/** Families in MongoDB: a document with all its revisions, of which at most one is published. */
import type { Actor, Store, Transaction } from '#libs/store';
import { archive } from '../rules/lifecycle.ts';
import { type DocumentRow, documents } from './collections.ts';
import type { DocumentRepository } from './document-repository.ts';
import type { Preconditions } from './preconditions.ts';

/** Reads and changes what the versions of one document share. */
export function families(store: Store, library: DocumentRepository, now: () => Date) {
  const rows = store.rows(documents);

  return {
    /** Archives the published version of a draft's family, if there is one, because the draft takes its place. */
    async supersede(draft: DocumentRow, at: Date, tx: Transaction): Promise<void> {
      const { organization_id, family_id } = draft;
      const current = { organization_id, family_id, status: 'published' as const };
      const before = await rows.findOne(current, null, { session: tx.session }).lean();
      if (before) await library.write(before, archive(at), at, tx);
    },

    /** Ends all links of a family for good, also for its drafts; no version's ETag changes. */
    async endLinks({ organization_id, family_id, share_epoch }: DocumentRow, tx: Transaction): Promise<void> {
      const raised = { share_epoch: share_epoch + 1 };
      await rows.updateMany({ organization_id, family_id }, raised, { session: tx.session });
    },

    /**
     * Makes something of a document in one transaction, without changing it; gives the reply of `work`. The row is touched
     * first, so that whoever archives or replaces the document, or changes its tree, comes before or after.
     */
    hold<R>(
      acting: Actor,
      id: string,
      conditions: Preconditions,
      work: (document: DocumentRow, tx: Transaction, at: Date) => Promise<R>,
    ): Promise<R> {
      return store.withLock(id, () =>
        store.respond(acting, async (_, tx) => {
          const document = await library.findAuthorized(acting, id, conditions, tx);
          await rows.updateOne({ _id: id }, { $inc: { revisions: 1 } }, { session: tx.session });
          return work(document, tx, now());
        }),
      );
    },

    /** All versions in a document's family, in no order; `NotFound`. */
    async members(acting: Actor, id: string): Promise<DocumentRow[]> {
      const { organization_id, family_id } = await library.find(acting, id);
      return rows.find({ organization_id, family_id }).lean();
    },
  };
}

export type Families = ReturnType<typeof families>;

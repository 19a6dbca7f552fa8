/** Reads and changes families in MongoDB: a document and its revisions, at most one of them published. */
import { type Actor, type Store, type Transaction, toSessionOptions } from '#libs/store';
import { archive } from '../rules/lifecycle.ts';
import { scheduleReview } from '../rules/review.ts';
import { type DocumentRow, documents } from './collections.ts';
import { type Change, completeChange } from './document-change.ts';
import type { DocumentRepository } from './document-repository.ts';

/** The fields of a review that a request sets. */
type ReviewChange = Pick<Change, 'reviewer_id' | 'review_months'>;

/** Creates the store of families. */
export function families(store: Store, repository: Pick<DocumentRepository, 'get'>) {
  const rows = store.rows(documents);

  const stored = {
    /** Returns the published version in the family of a document; undefined if there is none. */
    async findPublished(
      { organization_id, family_id }: DocumentRow,
      { session }: Transaction,
    ): Promise<DocumentRow | undefined> {
      const filter = { organization_id, family_id, status: 'published' as const };
      return (await rows.findOne(filter, null, { session }).lean()) ?? undefined;
    },

    /** Archives the published version in a draft's family, if any, because the draft replaces it, and returns it. */
    async supersede(draft: DocumentRow, at: Date, tx: Transaction): Promise<DocumentRow | undefined> {
      const before = await stored.findPublished(draft, tx);
      const { session } = tx;
      if (before)
        await rows.updateOne({ _id: before._id }, completeChange(before, archive(at), at), { session });
      return before;
    },

    /** Sets the approvers of all versions of a document. */
    async setApprovers(
      document: DocumentRow,
      { approver_ids, at }: { approver_ids: string[]; at: Date },
      tx: Transaction,
    ): Promise<void> {
      await changeAll(document, { approver_ids }, at, tx);
    },

    /** Sets the reviewer or the interval of all versions of a document, and when the published one is due. */
    async setReview(
      document: DocumentRow,
      { change, at }: { change: ReviewChange; at: Date },
      tx: Transaction,
    ): Promise<void> {
      const published = await stored.findPublished(document, tx);
      await changeAll(document, change, at, tx);
      if (!published) return;
      const schedule = scheduleReview({ ...published, ...change });
      await rows.updateOne({ _id: published._id }, schedule, { session: tx.session });
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
     * Increments a hidden field of the document that is revised. A concurrent archive, publish or tree change
     * therefore conflicts with the transaction and runs before or after it.
     */
    async lockForRevision({ _id }: DocumentRow, { session }: Transaction): Promise<void> {
      await rows.updateOne({ _id }, { $inc: { revisions: 1 } }, { session });
    },

    /** Returns all versions in the family of a document, in no particular order, or throws `NotFound`. */
    async getVersions(actor: Actor, id: string): Promise<DocumentRow[]> {
      const { organization_id, family_id } = await repository.get(actor, id);
      const options = toSessionOptions(actor.tx);
      return rows.find({ organization_id, family_id }, null, options).lean();
    },
  };
  return stored;

  /** Changes fields that belong to all versions of a document. */
  async function changeAll(
    { organization_id, family_id }: DocumentRow,
    change: Change,
    at: Date,
    { session }: Transaction,
  ): Promise<void> {
    const update = { $set: { ...change, updated_at: at }, $inc: { row_version: 1 } };
    await rows.updateMany({ organization_id, family_id }, update, { session });
  }
}

export type Families = ReturnType<typeof families>;

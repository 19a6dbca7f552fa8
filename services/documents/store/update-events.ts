/** Finds published documents that changed in place and still need a `document.updated` event. */
import type { Store, Transaction } from '#libs/store';
import { type DocumentRow, documents } from './collections.ts';

/** The earliest time: the partial index holds only rows whose time is later. */
const earliest = new Date(0);

/** A document whose event is due. */
export type DueUpdate = Pick<DocumentRow, '_id' | 'organization_id'> & { update_event_due_at: Date };

/** Finds the due events of all organizations and removes them one by one. */
export function createDueUpdates(store: Store, now: () => Date) {
  const rows = store.rows(documents);

  return {
    /** Returns at most `limit` documents whose event is due, longest due first. */
    find(limit: number): Promise<DueUpdate[]> {
      const due = { update_event_due_at: { $gt: earliest, $lte: now() } };
      const fields = { organization_id: 1, update_event_due_at: 1 } as const;
      return rows.find(due, fields).sort({ update_event_due_at: 1 }).limit(limit).lean<DueUpdate[]>();
    },

    /**
     * Removes the due time and returns the document; undefined if another replica was faster. Changes neither
     * the ETag nor `updated_at`. A concurrent change of the document conflicts with this transaction.
     */
    async take(
      { _id, organization_id, update_event_due_at }: DueUpdate,
      { session }: Transaction,
    ): Promise<DocumentRow | undefined> {
      const due = { _id, organization_id, update_event_due_at };
      const unset = { $unset: { update_event_due_at: 1 } };
      return (await rows.findOneAndUpdate(due, unset, { session }).lean()) ?? undefined;
    },
  };
}

export type DueUpdates = ReturnType<typeof createDueUpdates>;

/**
 * Returns the filter for a change of a row that was read before, possibly outside of the transaction: the row must not
 * have changed since. For a published document the row version is not enough. It does not change when the event about
 * earlier changes is published, and a change that relied on this event would never be announced.
 */
export function matchUnchangedRow({ _id, organization_id, row_version, status, ...row }: DocumentRow) {
  const { update_event_due_at = { $exists: false } } = row;
  return { _id, organization_id, row_version, ...(status === 'published' && { update_event_due_at }) };
}

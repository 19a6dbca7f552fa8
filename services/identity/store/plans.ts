/** Subscriptions in MongoDB, and how much of them is used. */
import type { Actor, Store, Transaction } from '#libs/store';
import { publishRecords } from '../../documents/views.ts';
import { type Terms, toPeriod } from '../rules/terms.ts';
import { type SubscriptionRow, subscriptions } from './collections.ts';

/** Reads and sets subscriptions. */
export function plans(store: Store) {
  const rows = store.rows(subscriptions);
  const records = store.read(publishRecords);

  return {
    async of(organization_id: string): Promise<SubscriptionRow | undefined> {
      return (await rows.findOne({ _id: organization_id }).lean()) ?? undefined;
    },

    /** Sets the plan with its terms and tells `changed` in the transaction; nothing when there is no such organization. */
    set(
      acting: Actor,
      plan: string,
      terms: Omit<Terms, 'terms_version'>,
      changed: (row: SubscriptionRow, tx: Transaction) => void,
    ): Promise<SubscriptionRow | undefined> {
      return store.transact(acting, async (tx) => {
        const options = { returnDocument: 'after' as const, session: tx.session };
        const set = { $set: { plan, ...terms }, $inc: { terms_version: 1 } };
        const row = await rows.findOneAndUpdate({ _id: acting.organization_id }, set, options).lean();
        if (!row) return undefined;
        changed(row, tx);
        return row;
      });
    },

    /** Publish events that count now. */
    used(organization_id: string, terms: Terms, at: Date): Promise<number> {
      const counted = terms.renews === 'monthly' ? { month: toPeriod(terms, at) } : {};
      return records.in(organization_id).count(counted);
    },
  };
}

export type Plans = ReturnType<typeof plans>;

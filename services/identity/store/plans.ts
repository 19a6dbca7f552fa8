/** Subscriptions in MongoDB, and their usage. */
import type { Actor, Store, Transaction } from '#libs/store';
import { publishRecords } from '../../documents/views.ts';
import type { PlanName, PlanTerms } from '../rules/plans.ts';
import { type Terms, toPeriod } from '../rules/terms.ts';
import { type SubscriptionRow, subscriptions } from './collections.ts';

/** Creates the repository of subscriptions. */
export function planRepository(store: Store) {
  const rows = store.rows(subscriptions);
  const records = store.read(publishRecords);

  return {
    async find(organization_id: string): Promise<SubscriptionRow | undefined> {
      return (await rows.findOne({ _id: organization_id }).lean()) ?? undefined;
    },

    /**
     * Sets the plan and its terms, and calls `onSet` in the transaction. Returns undefined if the organization does not
     * exist.
     */
    set(
      actor: Actor,
      plan: PlanName,
      { publishLimit: publish_limit, storageLimits: storage_limits, renews }: PlanTerms,
      onSet: (before: SubscriptionRow, tx: Transaction) => void,
    ): Promise<SubscriptionRow | undefined> {
      const terms = { plan, publish_limit, storage_limits, renews };
      const update = { $set: terms, $inc: { terms_version: 1 } };
      return store.transact(actor, async (tx) => {
        const options = { session: tx.session };
        const before = await rows.findOneAndUpdate({ _id: actor.organization_id }, update, options).lean();
        if (!before) return undefined;
        onSet(before, tx);
        return { ...before, ...terms, terms_version: before.terms_version + 1 };
      });
    },

    /** How many publishes count against the limit at `at`. */
    countPublishes(organization_id: string, terms: Terms, at: Date): Promise<number> {
      const filter = terms.renews === 'monthly' ? { month: toPeriod(terms, at) } : {};
      return records.in(organization_id).count(filter);
    },
  };
}

export type PlanRepository = ReturnType<typeof planRepository>;

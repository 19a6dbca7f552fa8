/** Subscriptions in MongoDB, and their usage. */
import type { Store } from '#libs/store';
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

    /** Sets the plan and its terms. Returns undefined if the organization does not exist. */
    async set(
      organization_id: string,
      plan: PlanName,
      { publishLimit: publish_limit, storageLimits: storage_limits, renews }: PlanTerms,
    ): Promise<SubscriptionRow | undefined> {
      const terms = { plan, publish_limit, storage_limits, renews };
      const update = { $set: terms, $inc: { terms_version: 1 } };
      const options = { returnDocument: 'after' as const };
      return (await rows.findOneAndUpdate({ _id: organization_id }, update, options).lean()) ?? undefined;
    },

    /** How many publishes count against the limit at `at`. */
    countPublishes(organization_id: string, terms: Terms, at: Date): Promise<number> {
      const filter = terms.renews === 'monthly' ? { month: toPeriod(terms, at) } : {};
      return records.in(organization_id).count(filter);
    },
  };
}

export type PlanRepository = ReturnType<typeof planRepository>;

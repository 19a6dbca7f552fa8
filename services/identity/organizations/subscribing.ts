/** Subscriptions: members read the plan of their organization, the operator sets it. */
import type { z } from 'zod';
import { NotFound } from '#libs/contract';
import { handle } from '#libs/http';
import { getSubscription, OrganizationPlanChanged, type Subscription, setSubscription } from '../contract.ts';
import { getPlanTerms, type PlanLimits } from '../rules/plans.ts';
import { getLimit, type StorageLimitName } from '../rules/storage-limits.ts';
import { nextRenewal } from '../rules/terms.ts';
import type { SubscriptionRow } from '../store/collections.ts';
import type { PlanRepository } from '../store/plans.ts';
import type { StorageMeter } from '../store/storage-use.ts';

/** What the operations on subscriptions need. */
export interface SubscriptionOptions {
  plans: PlanRepository;
  measureStorage: StorageMeter;
  planLimits: PlanLimits;
  now: () => Date;
}

/** Handlers of the operations on subscriptions, for members and for the operator. */
export function subscriptionHandlers({ plans, measureStorage, planLimits, now }: SubscriptionOptions) {
  return {
    handlers: [
      handle(getSubscription, async ({ actor }) => {
        const row = await plans.find(actor.organization_id);
        if (!row) throw new Error('The organization has no subscription');
        return toReply(row);
      }),
    ],
    adminHandlers: [
      handle(setSubscription, async ({ actor, params, body, call }) => {
        const { organization_id } = params;
        call.audit({ organization_id, plan: body.plan });
        // the event belongs to the organization, and has no user as its actor
        const system = { ...actor, organization_id, user_id: null };
        const terms = getPlanTerms(body.plan, planLimits);
        const row = await plans.set(system, body.plan, terms, (before, tx) =>
          tx.publish(OrganizationPlanChanged, { before: before.plan, after: body.plan }),
        );
        if (!row) throw NotFound();
        return toReply(row);
      }),
    ],
  };

  async function toReply(row: SubscriptionRow): Promise<z.infer<typeof Subscription>> {
    const at = now();
    const { plan, publish_limit, storage_limits } = row;
    const use = await measureStorage(row._id, storage_limits, at);
    const toUse = (name: StorageLimitName) => ({ used: use[name], limit: getLimit(storage_limits, name) });
    return {
      plan,
      publish_limit,
      publish_used: await plans.countPublishes(row._id, row, at),
      renews_at: nextRenewal(row, at),
      storage: {
        documents: toUse('documents'),
        document_bytes: toUse('document_bytes'),
        asset_bytes: toUse('asset_bytes'),
        template_bytes: toUse('template_bytes'),
        api_keys: toUse('api_keys'),
        pending_invitations: toUse('pending_invitations'),
        webhooks: toUse('webhooks'),
      },
    };
  }
}

/** Subscriptions: members read the plan of their organization, the operator sets it. */
import type { z } from 'zod';
import { NotFound } from '#libs/contract';
import { handle } from '#libs/http';
import { getSubscription, type Subscription, setSubscription } from '../contract.ts';
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
      handle(setSubscription, async ({ params, body, call }) => {
        call.audit({ organization_id: params.organization_id, plan: body.plan });
        const row = await plans.set(params.organization_id, body.plan, getPlanTerms(body.plan, planLimits));
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
        template_bytes: toUse('template_bytes'),
        api_keys: toUse('api_keys'),
        pending_invitations: toUse('pending_invitations'),
        webhooks: toUse('webhooks'),
      },
    };
  }
}

/** Subscriptions: members read the plan of their organization, the operator sets it. */
import type { z } from 'zod';
import { NotFound } from '#libs/contract';
import { handle } from '#libs/http';
import { getSubscription, type Subscription, setSubscription } from '../contract.ts';
import { getPlanTerms, type PlanLimits } from '../rules/plans.ts';
import { nextRenewal } from '../rules/terms.ts';
import type { SubscriptionRow } from '../store/collections.ts';
import type { PlanRepository } from '../store/plans.ts';

/** What the operations on subscriptions need. */
export interface SubscriptionOptions {
  plans: PlanRepository;
  planLimits: PlanLimits;
  now: () => Date;
}

/** Handlers of the operations on subscriptions, for members and for the operator. */
export function subscriptionHandlers({ plans, planLimits, now }: SubscriptionOptions) {
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
        const { publishLimit: publish_limit, renews } = getPlanTerms(body.plan, planLimits);
        const row = await plans.set(params.organization_id, body.plan, { publish_limit, renews });
        if (!row) throw NotFound();
        return toReply(row);
      }),
    ],
  };

  async function toReply(row: SubscriptionRow): Promise<z.infer<typeof Subscription>> {
    const at = now();
    const { plan, publish_limit } = row;
    return {
      plan,
      publish_limit,
      publish_used: await plans.countPublishes(row._id, row, at),
      renews_at: nextRenewal(row, at),
    };
  }
}

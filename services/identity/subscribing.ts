/** Subscribing: the plan of an organization, as its members see it and as the operator sets it. */
import { timingSafeEqual } from 'node:crypto';
import type { z } from 'zod';
import { NotFound, type Secret } from '#libs/contract';
import { handle, type Principal } from '#libs/http';
import { getSubscription, PlanChanged, type Subscription, setSubscription } from './contract.ts';
import { hashCredential } from './principal.ts';
import { type PlanTerms, termsOf } from './rules/plans.ts';
import { nextRenewal } from './rules/terms.ts';
import type { SubscriptionRow } from './store/collections.ts';
import type { Plans } from './store/plans.ts';

/** What subscribing needs. */
export interface Subscribing {
  plans: Plans;
  terms: PlanTerms;
  now: () => Date;
}

/** The operations on subscriptions: those of members, and those of the operator. */
export function subscribing({ plans, terms, now }: Subscribing) {
  return {
    handled: [
      handle(getSubscription, async ({ actor }) => {
        const row = await plans.of(actor.organization_id);
        if (!row) throw new Error('An organization has no subscription');
        return shown(row);
      }),
    ],
    operated: [
      handle(setSubscription, async ({ params, body, call }) => {
        call.audit({ organization_id: params.organization_id, plan: body.plan });
        const { publishLimit: publish_limit, renews } = termsOf(body.plan, terms);
        // the operator is no user of the organization
        const acting = { organization_id: params.organization_id, user_id: null };
        const row = await plans.set(
          acting,
          body.plan,
          { publish_limit, renews },
          ({ plan, publish_limit }, tx) => tx.publish(PlanChanged, { plan, publish_limit }),
        );
        if (!row) throw NotFound();
        return shown(row);
      }),
    ],
  };

  async function shown(row: SubscriptionRow): Promise<z.infer<typeof Subscription>> {
    const at = now();
    const { plan, publish_limit } = row;
    return {
      plan,
      publish_limit,
      publish_used: await plans.used(row._id, row, at),
      renews_at: nextRenewal(row, at),
    };
  }
}

/** Whether a bearer token is the operator's; without an `OPS_TOKEN` there is no operator. */
export function operatorFrom(
  opsToken: Secret | undefined,
): (token: string) => Promise<Principal | undefined> {
  const expected = opsToken && Buffer.from(hashCredential(opsToken.reveal()));
  return async (token) => {
    const isOperator =
      expected !== undefined && timingSafeEqual(Buffer.from(hashCredential(token)), expected);
    return isOperator ? { organization_id: 'operator', user_id: 'operator', key_id: null } : undefined;
  };
}

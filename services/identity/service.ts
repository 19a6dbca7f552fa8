/** Identity, wired. */
import { z } from 'zod';
import { openapi } from '#libs/contract';
import { integer, secret, service } from '#libs/service';
import { contracts } from '../contracts.ts';
import { keeping } from './api-keys.ts';
import { identityContract } from './contract.ts';
import { people } from './people.ts';
import { principalFrom } from './principal.ts';
import { about, reference } from './reference.ts';
import { planNames } from './rules/plans.ts';
import { signingIn } from './signing-in.ts';
import { signing } from './signing-keys.ts';
import { accounts } from './store/accounts.ts';
import {
  apiKeys,
  members,
  organizations,
  sessions,
  signingKeys,
  subscriptions,
  users,
} from './store/collections.ts';
import { credentials } from './store/credentials.ts';
import { plans as planRows } from './store/plans.ts';
import { operatorFrom, subscribing } from './subscribing.ts';

const accessTokenSeconds = 900;

export const identity = service({
  contract: identityContract,
  settings: z.object({
    DEFAULT_PLAN: z.enum(planNames).default('trial').meta({ description: 'Plan of a new organization' }),
    OPS_TOKEN: secret
      .optional()
      .meta({ description: 'Token of the operator on the management port; off when unset' }),
    PUBLISH_LIMIT_TRIAL: integer.default(5).meta({ description: 'Publish events of the trial plan in all' }),
    PUBLISH_LIMIT_TEAM: integer.default(200).meta({ description: 'Publish events of the team plan a month' }),
  }),
  collections: [users, organizations, members, subscriptions, apiKeys, sessions, signingKeys],
  start({ store, settings, now }) {
    const kept = { accounts: accounts(store), credentials: credentials(store), now };
    const keys = signing({
      ...kept,
      ring: store.ring,
      lifeSeconds: accessTokenSeconds,
    });
    const plans = {
      trialPublishes: settings.PUBLISH_LIMIT_TRIAL,
      teamPublishes: settings.PUBLISH_LIMIT_TEAM,
    };
    const plan = subscribing({ plans: planRows(store), limits: plans, now });
    const sessionsFor = {
      ...kept,
      signing: keys,
      plans,
      defaultPlan: settings.DEFAULT_PLAN,
      accessTokenSeconds,
    };
    return {
      handled: [
        ...plan.handled,
        ...signingIn(sessionsFor),
        ...keys.handled,
        ...people(kept),
        ...keeping(kept),
        ...reference(openapi(contracts, about)),
      ],
      authenticate: principalFrom(store, now),
      ...(settings.OPS_TOKEN && {
        operated: { handled: plan.operated, authenticate: operatorFrom(settings.OPS_TOKEN) },
      }),
      before: keys.prepare,
    };
  },
});

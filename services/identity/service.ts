/** Identity, wired. */
import { openapi } from '#libs/contract';
import { service } from '#libs/service';
import { contracts } from '../contracts.ts';
import { keeping } from './api-keys.ts';
import { identityContract } from './contract.ts';
import { keepingDepartments } from './departments.ts';
import { inbox, telling } from './inbox.ts';
import { inviting } from './inviting.ts';
import { organization } from './organization.ts';
import { people } from './people.ts';
import { principalFrom } from './principal.ts';
import { about, reference } from './reference.ts';
import { sessionMaker } from './sessions.ts';
import { identitySettings } from './settings.ts';
import { signingIn } from './signing-in.ts';
import { signing } from './signing-keys.ts';
import { accounts } from './store/accounts.ts';
import { identityCollections } from './store/collections.ts';
import { credentials } from './store/credentials.ts';
import { departmentRows } from './store/departments.ts';
import { inboxes } from './store/inbox.ts';
import { invitationRows } from './store/invitations.ts';
import { memberRows } from './store/members.ts';
import { organizationRows } from './store/organizations.ts';
import { plans } from './store/plans.ts';
import { operatorFrom, subscribing } from './subscribing.ts';

const accessTokenSeconds = 900;

export const identity = service({
  contract: identityContract,
  settings: identitySettings,
  collections: identityCollections,
  start({ store, settings, now }) {
    const departments = departmentRows(store);
    const kept = {
      accounts: accounts(store),
      credentials: credentials(store),
      members: memberRows(store, departments),
      organizations: organizationRows(store),
      invitations: invitationRows(store, departments),
      departments,
      now,
    };
    const inboxKept = { store, inboxes: inboxes(store), now };
    const keys = signing({ ...kept, ring: store.ring, lifeSeconds: accessTokenSeconds });
    const newSession = sessionMaker({ ...kept, signing: keys, accessTokenSeconds });
    const limits = {
      trialPublishes: settings.PUBLISH_LIMIT_TRIAL,
      teamPublishes: settings.PUBLISH_LIMIT_TEAM,
    };
    const plan = subscribing({ plans: plans(store), limits, now });
    const sessions = { ...kept, newSession, plans: limits, defaultPlan: settings.DEFAULT_PLAN };
    const operated = { handled: plan.operated, authenticate: operatorFrom(settings.OPS_TOKEN) };
    return {
      handled: [
        ...signingIn(sessions),
        ...keys.handled,
        ...people(kept),
        ...inviting({ ...kept, newSession, appUrl: settings.APP_URL }),
        ...organization(kept),
        ...keepingDepartments(kept),
        ...plan.handled,
        ...keeping(kept),
        ...inbox(inboxKept),
        ...reference(openapi(contracts, about)),
      ],
      authenticate: principalFrom(store, now),
      listeners: telling(inboxKept),
      ...(settings.OPS_TOKEN && { operated }),
      before: keys.prepare,
    };
  },
});

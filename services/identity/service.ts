/** Identity, wired. */
import { openapi } from '#libs/contract';
import { every, securityLog, service } from '#libs/service';
import { contracts } from '../contracts.ts';
import { apiKeyHandlers, recordKeyUsage } from './api-keys.ts';
import { identityContract } from './contract.ts';
import { departmentHandlers } from './departments.ts';
import { inbox, notifyMembers } from './inbox.ts';
import { inviting } from './inviting.ts';
import { loginThrottle } from './login-throttle.ts';
import { organization } from './organization.ts';
import { weakPasswordRejecter } from './password-strength.ts';
import { passwordsWithin } from './passwords.ts';
import { people } from './people.ts';
import { createPrincipalReader } from './principal.ts';
import { about, reference } from './reference.ts';
import { resetting } from './resetting.ts';
import { sessionsOf } from './sessions.ts';
import { identitySettings, planTerms, signInLimits } from './settings.ts';
import { signingIn } from './signing-in.ts';
import { signing } from './signing-keys.ts';
import { startPage } from './start-page.ts';
import { identityCollections, sealedPrivate } from './store/collections.ts';
import { identityStore } from './store/repositories.ts';
import { operatorFrom, subscribing } from './subscribing.ts';

const accessTokenSeconds = 900;
const hourMs = 3_600_000;

export const identity = service({
  contract: identityContract,
  settings: identitySettings,
  collections: identityCollections,
  start({ store, settings, now, log, health }) {
    const most = signInLimits(settings);
    const stored = identityStore(store, now);
    const kept = {
      store,
      ...stored,
      refuseGuessable: weakPasswordRejecter(),
      passwords: passwordsWithin({ atOnce: settings.PASSWORD_HASH_CONCURRENCY }),
      prove: loginThrottle(stored.limits, most.failures),
    };
    const sealing = store.sealing(sealedPrivate);
    const keys = signing({ ...kept, sealing, audited: securityLog(log), lifeSeconds: accessTokenSeconds });
    const sessions = sessionsOf({ ...kept, signing: keys, accessTokenSeconds });
    const terms = planTerms(settings);
    const plan = subscribing({ ...kept, terms });
    const reset = resetting({ ...kept, most: most.logins, appUrl: settings.APP_URL });
    const operators = operatorFrom(settings.OPS_TOKEN);
    const adminHandlers = { routes: [...plan.operated, ...reset.operated], authenticate: operators };
    const troubled = (error: unknown) => log.warn({ err: error }, 'Signing keys could not be kept fresh');
    const { DEFAULT_PLAN: defaultPlan, APP_URL: appUrl } = settings;
    return {
      routes: [
        ...signingIn({ ...kept, sessions, terms, defaultPlan, most }),
        ...reset.handled,
        ...keys.handled,
        ...people(kept),
        ...inviting({ ...kept, sessions, most: most.logins, appUrl }),
        ...organization(kept),
        ...departmentHandlers(kept),
        ...plan.handled,
        ...apiKeyHandlers(kept),
        ...inbox(kept),
        ...reference(openapi(contracts, about)),
        ...startPage({ about, health, guidesUrl: settings.GUIDES_URL }),
      ],
      authenticate: createPrincipalReader(store, now),
      subscribers: [...notifyMembers(kept), ...recordKeyUsage(kept)],
      ...(settings.OPS_TOKEN && { adminHandlers }),
      workers: [every(hourMs, () => keys.keepFresh(settings.SIGNING_KEY_ROTATION_DAYS), troubled)],
      beforeStart: keys.prepare,
    };
  },
});

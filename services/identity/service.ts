/** Wires identity: creates its repositories and handlers and starts its background work. */
import { openapi } from '#libs/contract';
import { every, securityLog, service } from '#libs/service';
import { contracts } from '../contracts.ts';
import { apiKeyHandlers, recordKeyUsage } from './api-keys.ts';
import { identityContract } from './contract.ts';
import { departmentHandlers } from './departments.ts';
import { invitationHandlers } from './inviting.ts';
import { createLoginThrottle } from './login-throttle.ts';
import { notificationHandlers, notifyMembers } from './notifications.ts';
import { organizationHandlers } from './organization.ts';
import { createWeakPasswordCheck } from './password-strength.ts';
import { createPasswordHasher } from './passwords.ts';
import { peopleHandlers } from './people.ts';
import { createPrincipalReader } from './principal.ts';
import { about, referenceHandlers } from './reference.ts';
import { passwordResetHandlers } from './resetting.ts';
import { createSessions } from './sessions.ts';
import { identitySettings, toPlanLimits, toSignInLimits } from './settings.ts';
import { signInHandlers } from './signing-in.ts';
import { createTokenSigner } from './signing-keys.ts';
import { startPageHandlers } from './start-page.ts';
import { identityCollections, sealedPrivate } from './store/collections.ts';
import { createRepositories } from './store/repositories.ts';
import { createOperatorReader, subscriptionHandlers } from './subscribing.ts';

const accessTokenSeconds = 900;
const hourMs = 3_600_000;

export const identity = service({
  contract: identityContract,
  settings: identitySettings,
  collections: identityCollections,
  start({ store, settings, now, log, health }) {
    const rateLimits = toSignInLimits(settings);
    const repositories = createRepositories(store, now);
    const deps = {
      store,
      ...repositories,
      rejectWeakPassword: createWeakPasswordCheck(),
      passwords: createPasswordHasher({ concurrency: settings.PASSWORD_HASH_CONCURRENCY }),
      withLoginThrottle: createLoginThrottle(repositories.rateLimiter, rateLimits.failures),
    };
    const sealing = store.sealing(sealedPrivate);
    const auditLog = securityLog(log);
    const signer = createTokenSigner({ ...deps, sealing, securityLog: auditLog, accessTokenSeconds });
    const sessions = createSessions({ ...deps, signer, accessTokenSeconds });
    const planLimits = toPlanLimits(settings);
    const subscription = subscriptionHandlers({ ...deps, planLimits });
    const { DEFAULT_PLAN: defaultPlan, APP_URL: appUrl } = settings;
    const passwordReset = passwordResetHandlers({ ...deps, rateLimit: rateLimits.logins, appUrl });
    const adminHandlers = {
      routes: [...subscription.adminHandlers, ...passwordReset.adminHandlers],
      authenticate: createOperatorReader(settings.OPS_TOKEN),
    };
    const onError = (error: unknown) => log.warn({ err: error }, 'Could not rotate or delete signing keys');
    return {
      routes: [
        ...signInHandlers({ ...deps, sessions, planLimits, defaultPlan, rateLimits }),
        ...passwordReset.handlers,
        ...signer.handlers,
        ...peopleHandlers(deps),
        ...invitationHandlers({ ...deps, sessions, rateLimit: rateLimits.logins, appUrl }),
        ...organizationHandlers(deps),
        ...departmentHandlers(deps),
        ...subscription.handlers,
        ...apiKeyHandlers(deps),
        ...notificationHandlers(deps),
        ...referenceHandlers(openapi(contracts, about)),
        ...startPageHandlers({ about, health, guidesUrl: settings.GUIDES_URL }),
      ],
      authenticate: createPrincipalReader(store, now),
      subscribers: [...notifyMembers(deps), ...recordKeyUsage(deps)],
      ...(settings.OPS_TOKEN && { adminHandlers }),
      workers: [every(hourMs, () => signer.rotateIfDue(settings.SIGNING_KEY_ROTATION_DAYS), onError)],
      beforeStart: signer.prepare,
    };
  },
});

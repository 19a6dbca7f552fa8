/** Wires identity: creates its repositories and handlers and starts its background work. */
import { every, securityLog, service } from '#libs/service';
import { createPasswordHasher, type ScryptCost } from '#libs/workers';
import { createLoginThrottle } from './accounts/login-throttle.ts';
import { ownAccountHandlers } from './accounts/own-account.ts';
import { createWeakPasswordCheck } from './accounts/password-strength.ts';
import { passwordResetHandlers } from './accounts/resetting.ts';
import { createSessions } from './accounts/sessions.ts';
import { signInHandlers } from './accounts/signing-in.ts';
import { createTokenSigner } from './accounts/signing-keys.ts';
import { apiKeyHandlers, recordKeyUsage } from './api-keys/api-keys.ts';
import { appendToAuditLog } from './audit-log/appending.ts';
import { auditLogHandlers } from './audit-log/reading.ts';
import { identityContract } from './contract.ts';
import { auditLogMetrics, createAuditLogMetrics } from './metrics.ts';
import { notificationHandlers, notifyMembers } from './notifications/notifications.ts';
import { createOperatorReader } from './operator.ts';
import { departmentHandlers } from './organizations/departments.ts';
import { invitationHandlers } from './organizations/inviting.ts';
import { memberHandlers } from './organizations/members.ts';
import { organizationHandlers } from './organizations/organization.ts';
import { subscriptionHandlers } from './organizations/subscribing.ts';
import { createPrincipalReader } from './principal.ts';
import { referenceHandlers } from './reference/reference.ts';
import { startPageHandlers } from './reference/start-page.ts';
import { identitySettings, toOperatorAccess, toPlanLimits, toSignInLimits } from './settings.ts';
import { createStorageQuota, quotaRejections } from './storage-quota.ts';
import { identityCollections, sealedPrivate } from './store/collections.ts';
import { createRepositories } from './store/repositories.ts';

/** Creates the service. Only tests choose the cost of a password hash. */
export const createIdentity = (passwordCost?: ScryptCost) =>
  service({
    contract: identityContract,
    settings: identitySettings,
    collections: identityCollections,
    metrics: [quotaRejections, ...auditLogMetrics],
    start({ store, settings, now, log, health, meters }) {
      const { DEFAULT_PLAN: defaultPlan, APP_URL: appUrl, PASSWORD_HASH_CONCURRENCY: concurrency } = settings;
      const [rateLimits, repositories] = [toSignInLimits(settings), createRepositories(store, now)];
      const deps = {
        store,
        ...{ ...repositories, storageQuota: createStorageQuota(store, meters) },
        ...{ defaultPlan, appUrl, rateLimits, rateLimit: rateLimits.logins, accessTokenSeconds: 900 },
        ...{ rejectWeakPassword: createWeakPasswordCheck(), planLimits: toPlanLimits(settings) },
        passwords: createPasswordHasher({ concurrency, cost: passwordCost }),
        ...{ securityLog: securityLog(log), auditLogMetrics: createAuditLogMetrics(meters, now) },
        isRegistrationOpen: settings.REGISTRATION === 'open',
        withLoginThrottle: createLoginThrottle(repositories.rateLimiter, rateLimits.failures),
      };
      const signer = createTokenSigner({ ...deps, sealing: store.sealing(sealedPrivate) });
      const sessions = createSessions({ ...deps, signer });
      const others = [organizationHandlers(deps), subscriptionHandlers(deps), passwordResetHandlers(deps)];
      const topics = [invitationHandlers({ ...deps, sessions }), ...others];
      const adminHandlers = {
        routes: topics.flatMap((topic) => topic.adminHandlers),
        authenticate: createOperatorReader({ ...toOperatorAccess(settings), now }),
      };
      const onError = (error: unknown) => log.warn({ err: error }, 'Could not rotate or delete signing keys');
      return {
        routes: [
          ...signInHandlers({ ...deps, sessions }),
          ...topics.flatMap((topic) => topic.handlers),
          ...signer.handlers,
          ...[ownAccountHandlers(deps), memberHandlers(deps), departmentHandlers(deps)].flat(),
          ...[apiKeyHandlers(deps), notificationHandlers(deps), auditLogHandlers(deps)].flat(),
          ...referenceHandlers(),
          ...startPageHandlers({ health, guidesUrl: settings.GUIDES_URL }),
        ],
        authenticate: createPrincipalReader(store, now),
        subscribers: [...notifyMembers(deps), ...recordKeyUsage(deps), ...appendToAuditLog(deps)],
        ...(settings.OPS_TOKEN && { adminHandlers }),
        workers: [every(60 * 60_000, () => signer.rotateIfDue(settings.SIGNING_KEY_ROTATION_DAYS), onError)],
        beforeStart: signer.prepare,
      };
    },
  });

export const identity = createIdentity();

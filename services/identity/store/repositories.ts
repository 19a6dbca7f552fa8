/** Creates all repositories of identity. */
import type { Store } from '#libs/store';
import { accountRepository } from './accounts.ts';
import { apiKeyRepository } from './api-keys.ts';
import { auditLogRepository } from './audit-log.ts';
import { departmentRepository } from './departments.ts';
import { invitationRepository } from './invitations.ts';
import { memberRepository } from './members.ts';
import { notificationRepository } from './notifications.ts';
import { organizationRepository } from './organizations.ts';
import { passwordResetRepository } from './password-resets.ts';
import { planRepository } from './plans.ts';
import { createRateLimiter } from './rate-limiter.ts';
import { sessionRepository } from './sessions.ts';
import { signingKeyRepository } from './signing-keys.ts';
import { createStorageMeter } from './storage-use.ts';

/** The repositories over one store, and `now`, so that handlers take both from one object. */
export function createRepositories(store: Store, now: () => Date) {
  const departments = departmentRepository(store);
  const apiKeys = apiKeyRepository(store);
  const invitations = invitationRepository(store, departments);
  return {
    accounts: accountRepository(store),
    apiKeys,
    auditLog: auditLogRepository(store),
    departments,
    invitations,
    measureStorage: createStorageMeter(store, { apiKeys, invitations }),
    members: memberRepository(store, departments),
    notifications: notificationRepository(store),
    organizations: organizationRepository(store),
    plans: planRepository(store),
    rateLimiter: createRateLimiter(store, now),
    resets: passwordResetRepository(store),
    sessions: sessionRepository(store),
    signingKeys: signingKeyRepository(store),
    now,
  };
}

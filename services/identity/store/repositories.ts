/** Everything that identity keeps, by what it is about. */
import type { Store } from '#libs/store';
import { accounts } from './accounts.ts';
import { credentials } from './credentials.ts';
import { departmentRows } from './departments.ts';
import { inboxes } from './inbox.ts';
import { invitationRows } from './invitations.ts';
import { limits } from './limits.ts';
import { memberRows } from './members.ts';
import { organizationRows } from './organizations.ts';
import { passwordResetRows } from './password-resets.ts';
import { plans } from './plans.ts';
import { sessionRows } from './sessions.ts';

/** The stores of identity over its connection. */
export function identityStore(store: Store, now: () => Date) {
  const departments = departmentRows(store);
  return {
    accounts: accounts(store),
    credentials: credentials(store),
    departments,
    inboxes: inboxes(store),
    invitations: invitationRows(store, departments),
    limits: limits(store, now),
    members: memberRows(store, departments),
    organizations: organizationRows(store),
    plans: plans(store),
    resets: passwordResetRows(store),
    sessions: sessionRows(store),
    now,
  };
}

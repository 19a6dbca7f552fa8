/** People: who they are in their organization. */
import { Unauthenticated } from '#libs/contract';
import { handle } from '#libs/http';
import { getMe } from './contract.ts';
import { memberOf, organizationOf } from './presenting.ts';
import type { Accounts } from './store/accounts.ts';

/** The operations on people. */
export function people(of: { accounts: Accounts }) {
  return [
    handle(getMe, async ({ actor }) => {
      const membership = await of.accounts.membership(actor.organization_id, actor.user_id);
      if (!membership) throw Unauthenticated();
      const { user, member, organization } = membership;
      return {
        user: { id: user._id, name: user.name, email: user.email },
        member: memberOf(user, member),
        organization: organizationOf(organization),
      };
    }),
  ];
}

/** People: oneself, and the members of the organization. */
import { z } from 'zod';
import { cursorOf, id, NotFound, positionOf, Unauthenticated } from '#libs/contract';
import { answer, handle } from '#libs/http';
import { changeMember, getMe, listMembers, listRoles, MemberRemoved, removeMember } from './contract.ts';
import { memberOf, organizationOf } from './presenting.ts';
import { roles } from './rules/roles.ts';
import type { Accounts } from './store/accounts.ts';
import type { MemberRows } from './store/members.ts';

const position = z.tuple([id]);

/** The operations on people. */
export function people({ accounts, members }: { accounts: Accounts; members: MemberRows }) {
  return [
    handle(getMe, async ({ actor }) => {
      const membership = await accounts.membership(actor.organization_id, actor.user_id);
      if (!membership) throw Unauthenticated();
      const { user, member, organization } = membership;
      return {
        user: { id: user._id, name: user.name, email: user.email },
        member: memberOf(user, member),
        organization: organizationOf(organization),
      };
    }),

    handle(listRoles, async () => roles),

    handle(listMembers, async ({ actor, query }) => {
      const [after] = positionOf(query.cursor, position) ?? [];
      const found = await members.list(actor, { after, limit: query.limit + 1 });
      const shown = found.slice(0, query.limit);
      const last = found.length > shown.length ? shown.at(-1) : undefined;
      return answer(
        shown.map(({ user, member }) => memberOf(user, member)),
        { next: last && cursorOf([last.user._id]) },
      );
    }),

    handle(changeMember, async ({ actor, params, body }) => {
      const found = body.role && (await members.changeRole(actor, params.member_id, body.role));
      if (!found) throw NotFound();
      return memberOf(found.user, found.member);
    }),

    handle(removeMember, async ({ actor, params }) => {
      const found = await members.remove(actor, params.member_id, ({ user, member }, tx) =>
        tx.say(MemberRemoved, { member: memberOf(user, member) }),
      );
      if (!found) throw NotFound();
      return undefined;
    }),
  ];
}

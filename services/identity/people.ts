/** People: oneself, and the members of the organization. */
import { z } from 'zod';
import { id, NotFound, parseCursor, Unauthenticated } from '#libs/contract';
import { handle, toPage } from '#libs/http';
import type { Store } from '#libs/store';
import {
  deleteMember,
  getMe,
  listMembers,
  listRoles,
  MemberRemoved,
  PasswordNeedsSession,
  updateMember,
  updatePassword,
  WrongPassword,
} from './contract.ts';
import type { WithLoginThrottle } from './login-throttle.ts';
import type { RejectWeakPassword } from './password-strength.ts';
import type { Passwords } from './passwords.ts';
import { toMember, toOrganization } from './presenters.ts';
import { roles } from './rules/roles.ts';
import type { Accounts } from './store/accounts.ts';
import type { MemberOf, MemberRows } from './store/members.ts';

const position = z.tuple([id]);

/** What people need. */
export interface People {
  store: Pick<Store, 'respond'>;
  accounts: Accounts;
  members: MemberRows;
  refuseGuessable: RejectWeakPassword;
  passwords: Passwords;
  prove: WithLoginThrottle;
}

/** The operations on people. */
export function people({ store, accounts, members, refuseGuessable, passwords, prove }: People) {
  return [
    handle(getMe, async ({ actor }) => {
      const membership = await accounts.membership(actor.organization_id, actor.user_id);
      if (!membership) throw Unauthenticated();
      const { user, member, organization } = membership;
      return {
        user: { id: user._id, name: user.name, email: user.email },
        member: toMember(user, member),
        organization: toOrganization(organization),
      };
    }),

    handle(listRoles, async () => roles),

    handle(listMembers, async ({ actor, query }) => {
      const [after] = parseCursor(query.cursor, position) ?? [];
      const found = await members.list(actor, { after, limit: query.limit + 1 });
      const show = ({ user, member }: MemberOf) => toMember(user, member);
      return toPage({ found, limit: query.limit, toItem: show, position: ({ user }) => [user._id] });
    }),

    handle(updateMember, async ({ actor, params, body, call }) => {
      const { member_id } = params;
      call.audit({ member_id, ...body });
      const found = await members.change(actor, member_id, body);
      if (!found) throw NotFound();
      call.audit({ role_before: found.before.role });
      return toMember(found.user, found.member);
    }),

    handle(deleteMember, async ({ actor, params, call }) => {
      call.audit({ member_id: params.member_id });
      const found = await members.remove(actor, params.member_id, ({ user, member }, tx) =>
        tx.publish(MemberRemoved, { member: toMember(user, member) }),
      );
      if (!found) throw NotFound();
      return undefined;
    }),

    handle(updatePassword, async ({ actor, body, call }) => {
      if (actor.key_id !== null) throw PasswordNeedsSession();
      const user = await accounts.user(actor.user_id);
      if (!user) throw Unauthenticated();
      const isRight = await prove({ email: user.email, address: call.address }, async () =>
        (await passwords.isRight(body.current_password, user.password)) ? true : undefined,
      );
      if (!isRight) throw WrongPassword();
      refuseGuessable(body.new_password, [user.email, user.name], 'body/new_password');
      const password = await passwords.hash(body.new_password);
      return store.respond(actor, async (within) => {
        // changed at the same moment by somebody else, who knew it too
        if (!(await accounts.setPassword(within, user, password))) throw WrongPassword();
        return undefined;
      });
    }),
  ];
}

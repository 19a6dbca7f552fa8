/** People: the caller and the members of the organization. */
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
import type { PasswordHasher } from './passwords.ts';
import { toMember, toOrganization } from './presenters.ts';
import { roles } from './rules/roles.ts';
import type { AccountRepository } from './store/accounts.ts';
import type { MemberRepository, MemberWithUser } from './store/members.ts';

const position = z.tuple([id]);

/** What the operations on people need. */
export interface PeopleOptions {
  store: Pick<Store, 'respond'>;
  accounts: AccountRepository;
  members: MemberRepository;
  rejectWeakPassword: RejectWeakPassword;
  passwords: PasswordHasher;
  withLoginThrottle: WithLoginThrottle;
}

/** Handlers of the operations on people. */
export function peopleHandlers({
  store,
  accounts,
  members,
  rejectWeakPassword,
  passwords,
  withLoginThrottle,
}: PeopleOptions) {
  return [
    handle(getMe, async ({ actor }) => {
      const membership = await accounts.findMembership(actor.organization_id, actor.user_id);
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
      const show = ({ user, member }: MemberWithUser) => toMember(user, member);
      return toPage({ found, limit: query.limit, toItem: show, position: ({ user }) => [user._id] });
    }),

    handle(updateMember, async ({ actor, params, body, call }) => {
      const { member_id } = params;
      call.audit({ member_id, ...body });
      const updated = await members.update(actor, member_id, body);
      if (!updated) throw NotFound();
      call.audit({ role_before: updated.before.role });
      return toMember(updated.user, updated.member);
    }),

    handle(deleteMember, async ({ actor, params, call }) => {
      call.audit({ member_id: params.member_id });
      const removed = await members.remove(actor, params.member_id, ({ user, member }, tx) =>
        tx.publish(MemberRemoved, { member: toMember(user, member) }),
      );
      if (!removed) throw NotFound();
      return undefined;
    }),

    handle(updatePassword, async ({ actor, body, call }) => {
      if (actor.key_id !== null) throw PasswordNeedsSession();
      const user = await accounts.findUser(actor.user_id);
      if (!user) throw Unauthenticated();
      const isRight = await withLoginThrottle({ email: user.email, address: call.address }, async () =>
        (await passwords.verify(body.current_password, user.password)) ? true : undefined,
      );
      if (!isRight) throw WrongPassword();
      await rejectWeakPassword(body.new_password, [user.email, user.name], 'body/new_password');
      const password = await passwords.hash(body.new_password);
      return store.respond(actor, async (within) => {
        // false if another request has changed the password in the meantime
        if (!(await accounts.setPassword(within, user, password))) throw WrongPassword();
        return undefined;
      });
    }),
  ];
}

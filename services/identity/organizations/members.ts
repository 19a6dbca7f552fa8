/** Members of the caller's organization, and the roles that they can have. */
import { z } from 'zod';
import { id, NotFound, parseCursor } from '#libs/contract';
import { handle, toPage } from '#libs/http';
import {
  deleteMember,
  listMembers,
  listRoles,
  MemberRemoved,
  MemberUpdated,
  updateMember,
} from '../contract.ts';
import { toMember } from '../presenters.ts';
import { roles } from '../rules/roles.ts';
import type { MemberRepository, MemberWithUser } from '../store/members.ts';

const position = z.tuple([id]);

/** Handlers of the operations on members and roles. */
export function memberHandlers({ members }: { members: MemberRepository }) {
  return [
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
      const updated = await members.update(actor, member_id, body, (before, after, tx) =>
        tx.publish(MemberUpdated, {
          member_id,
          before: { role: before.role, department: before.department },
          after: { role: after.role, department: after.department },
        }),
      );
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
  ];
}

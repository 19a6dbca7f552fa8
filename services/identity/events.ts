/** What identity says when something happened to a member. */
import { z } from 'zod';
import { event } from '#libs/contract';
import { Invitation, Member } from './shapes.ts';

export const MemberInvited = event('member.invited', {
  sentence: 'A person was invited.',
  data: z.strictObject({ invitation: Invitation }),
  subscribable: true,
});

export const MemberJoined = event('member.joined', {
  sentence: 'An invitation was accepted.',
  data: z.strictObject({ member: Member }),
  subscribable: true,
});

/** For services only: whoever was a member is none any more. */
export const MemberRemoved = event('member.removed', {
  sentence: 'A member was removed from the organization.',
  data: z.strictObject({ member: Member }),
});

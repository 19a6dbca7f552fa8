/** What identity says when something happened to a member. */
import { z } from 'zod';
import { event } from '#libs/contract';
import { Member } from './shapes.ts';

/** For services only: whoever was a member is none any more. */
export const MemberRemoved = event('member.removed', {
  sentence: 'A member was removed from the organization.',
  data: z.strictObject({ member: Member }),
});

/** What identity says when something happened to a member. */
import { z } from 'zod';
import { event, id, timestamp } from '#libs/contract';
import { Invitation, Member } from './shapes.ts';

export const MemberInvited = event('member.invited', {
  description: 'A person was invited.',
  data: z.strictObject({ invitation: Invitation }),
  subscribable: true,
});

export const MemberJoined = event('member.joined', {
  description: 'An invitation was accepted.',
  data: z.strictObject({ member: Member }),
  subscribable: true,
});

/** For services only: said at most once a minute for each key by each process. */
export const ApiKeyUsed = event('api_key.used', {
  description: 'An API key was used.',
  data: z.strictObject({ key_id: id, used_at: timestamp }),
});

/** For services only: the plan of an organization is another one. */
export const PlanChanged = event('organization.plan_changed', {
  description: 'The plan of an organization was set.',
  data: z.strictObject({ plan: z.string(), publish_limit: z.number().int().nullable() }),
});

/** For services only: whoever was a member is none any more. */
export const MemberRemoved = event('member.removed', {
  description: 'A member was removed from the organization.',
  data: z.strictObject({ member: Member }),
});

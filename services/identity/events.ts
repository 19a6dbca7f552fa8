/** The events that identity publishes. */
import { z } from 'zod';
import { event, id, timestamp } from '#libs/contract';
import { Invitation, Member } from './shapes.ts';

/** A person was invited. Customers may subscribe webhooks to it. */
export const MemberInvited = event('member.invited', {
  description: 'A person was invited to the organization.',
  data: z.strictObject({ invitation: Invitation }),
  subscribable: true,
});

/** An invited person joined the organization. Customers may subscribe webhooks to it. */
export const MemberJoined = event('member.joined', {
  description: 'An invited person accepted the invitation and joined the organization.',
  data: z.strictObject({ member: Member }),
  subscribable: true,
});

/** Internal. An API key was used; each process publishes it at most once a minute for each key. */
export const ApiKeyUsed = event('api_key.used', {
  description: 'An API key was used.',
  data: z.strictObject({ key_id: id, used_at: timestamp }),
});

/** Internal. The operator set the plan of an organization. */
export const PlanChanged = event('organization.plan_changed', {
  description: 'The operator set the plan of the organization.',
  data: z.strictObject({ plan: z.string(), publish_limit: z.number().int().nullable() }),
});

/** Internal. A member was removed from the organization. */
export const MemberRemoved = event('member.removed', {
  description: 'A member was removed from the organization.',
  data: z.strictObject({ member: Member }),
});

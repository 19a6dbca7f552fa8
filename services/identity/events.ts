/** The events that identity publishes. Every service publishes `api_key.used`. */
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

/** Internal. An API key was used; each service publishes it at most once a minute for each key and process. */
export const ApiKeyUsed = event('api_key.used', {
  description: 'An API key was used.',
  data: z.strictObject({ key_id: id, used_at: timestamp }),
});

/** Internal. A member was removed from the organization. */
export const MemberRemoved = event('member.removed', {
  description: 'A member was removed from the organization.',
  data: z.strictObject({ member: Member }),
});

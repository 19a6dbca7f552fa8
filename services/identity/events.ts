/** The events that identity publishes. Every service publishes `api_key.used`. */
import { z } from 'zod';
import { event, id, timestamp } from '#libs/contract';
import { Invitation, Member, plan, role, settingsChange } from './shapes.ts';

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

const membership = z.strictObject({ role, department: z.string().nullable() });

/** Internal. A renamed department changes its members with `department.renamed` instead. */
export const MemberUpdated = event('member.updated', {
  description: 'The role or the department of a member changed.',
  data: z.strictObject({ member_id: id, before: membership, after: membership }),
});

/** Internal. Its members, invitations and the open requests for acknowledgement get the new name. */
export const DepartmentRenamed = event('department.renamed', {
  description: 'A department was renamed.',
  data: z.strictObject({ department_id: id, before: z.string(), after: z.string() }),
});

const organizationFields = z.strictObject({ slug: z.string(), settings: settingsChange });

/** Internal. The name of the organization is not in it. */
export const OrganizationUpdated = event('organization.updated', {
  description: 'The name, the slug or the settings of the organization changed.',
  data: z.strictObject({
    changed: z.array(z.string()).meta({ description: 'Names of the fields and settings' }),
    before: organizationFields,
    after: organizationFields,
  }),
});

/** Internal. */
export const OrganizationPlanChanged = event('organization.plan_changed', {
  description: 'The operator set the plan of the organization.',
  data: z.strictObject({ before: plan, after: plan }),
});

/** Internal. */
export const ApiKeyCreated = event('api_key.created', {
  description: 'A member created an API key.',
  data: z.strictObject({ key_id: id, member_id: id, role, expires_at: timestamp.nullable() }),
});

/** Internal. The removal of a member revokes their keys without this event. */
export const ApiKeyRevoked = event('api_key.revoked', {
  description:
    'API keys of a member were revoked: one with all that were created with it, or all of the member.',
  data: z.strictObject({ key_ids: z.array(id), member_id: id }),
});

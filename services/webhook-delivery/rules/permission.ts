/** Permission rule: only the creator of a webhook and admins may change it. */
import { Forbidden, type Problem } from '#libs/contract';

/** The fields of a caller that the rule reads. */
export interface Requester {
  readonly user_id: string;
  readonly role: string;
}

/** Returns whether the caller may change or delete a webhook: its creator and admins may. */
export function canChange(actor: Requester, webhook: { readonly created_by: string }): boolean {
  return actor.role === 'admin' || webhook.created_by === actor.user_id;
}

/**
 * Creates a check that returns `Forbidden` for everyone except the creator and admins. `action` completes the
 * message "Only the creator of the webhook or an admin may …", e.g. `delete it`.
 */
export function requireCreatorOrAdmin(actor: Requester, action: string) {
  return (webhook: { readonly created_by: string }): Problem | undefined =>
    canChange(actor, webhook)
      ? undefined
      : Forbidden(`Only the creator of the webhook or an admin may ${action}.`);
}

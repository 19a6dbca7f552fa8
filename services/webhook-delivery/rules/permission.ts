/** Who may change a webhook. */
import { Forbidden, type Problem } from '#libs/contract';

/** Who asks, as far as this matters. */
export interface Requester {
  readonly user_id: string;
  readonly role: string;
}

/** Whether someone may change or delete a webhook: its creator and admins may. */
export function canChange(actor: Requester, webhook: { readonly created_by: string }): boolean {
  return actor.role === 'admin' || webhook.created_by === actor.user_id;
}

/** Refuses everybody else; `deed` is what they wanted to do, e.g. `delete a webhook`. */
export function requireCreatorOrAdmin(actor: Requester, deed: string) {
  return (webhook: { readonly created_by: string }): Problem | undefined =>
    canChange(actor, webhook) ? undefined : Forbidden(`Only its creator or an admin may ${deed}.`);
}

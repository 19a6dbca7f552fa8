/** Who may change a webhook. */

/** Whether someone may change or delete a webhook: its creator and admins may. */
export function canChange(
  actor: { readonly user_id: string; readonly role: string },
  webhook: { readonly created_by: string },
): boolean {
  return actor.role === 'admin' || webhook.created_by === actor.user_id;
}

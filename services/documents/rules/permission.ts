/** Who may change a document: its owner (the creator), its assigned editor, the organization's admins. */

/** Who asks, as far as permission needs to know. */
export interface Requester {
  user_id: string;
  role: 'member' | 'admin';
}

/** Whose document it is. */
export interface OwnedResource {
  created_by: string;
  editor_id: string | null;
}

/** Fields and nodes: owner, editor, admin. */
export function canEdit(asker: Requester, document: OwnedResource): boolean {
  return canManage(asker, document) || document.editor_id === asker.user_id;
}

/** Its life, its editor, its link: owner, admin. */
export function canManage(asker: Requester, document: OwnedResource): boolean {
  return asker.role === 'admin' || document.created_by === asker.user_id;
}

/** Decides who may change a document: its owner (the creator), its editor, the organization's admins. */

/** The fields of the caller that the rules need. */
export interface Principal {
  user_id: string;
  role: 'member' | 'admin';
}

/** The fields of a document that the rules need. */
export interface OwnedResource {
  created_by: string;
  editor_id: string | null;
}

/** Returns true if the principal may change fields and nodes: owner, editor or admin. */
export function canEdit(principal: Principal, document: OwnedResource): boolean {
  return canManage(principal, document) || document.editor_id === principal.user_id;
}

/** Returns true if the principal may manage lifecycle, editor and public link: owner or admin. */
export function canManage(principal: Principal, document: OwnedResource): boolean {
  return principal.role === 'admin' || document.created_by === principal.user_id;
}

/** The access rule of documents that other services do not have: their editor. */
import { type Access, Forbidden } from '#libs/contract';
import { isOwnerOrAdmin, type MemberPrincipal, member, type OwnedResource } from '../identity/contract.ts';

/** A document with its owner and its editor. */
export interface EditableResource extends OwnedResource {
  readonly editor_id: string | null;
}

/** The owner of a document, its editor and admins. */
export const ownerEditorOrAdmin: Access<MemberPrincipal, EditableResource> = {
  ...member,
  name: 'owner, editor or admin',
  description: 'The owner, the editor or an admin may change this document.',
  problems: [Forbidden],
  resource: {
    allows: (principal, document) =>
      isOwnerOrAdmin(principal, document) || document.editor_id === principal.user_id,
    deny: () => Forbidden('Only the owner, the editor or an admin may change this document.'),
  },
};

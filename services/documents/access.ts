/** The access rules of documents that other services do not have: editors, submitters, approvers and reviewers. */
import { type Access, Forbidden } from '#libs/contract';
import {
  isOwnerOrAdmin,
  type MemberPrincipal,
  member,
  type OwnedResource,
  person,
} from '../identity/contract.ts';

/** A document with its owner and its editor. */
export interface EditableResource extends OwnedResource {
  readonly editor_id: string | null;
}

/** The owner of a document, its editor and admins. */
export const ownerEditorOrAdmin = createEditorAccess('owner, editor or admin', 'change this document');

/** The same people, for a document that the body of the request names. */
export const documentSubmitters = createEditorAccess('its owner, editor or admin', 'submit this document');

function createEditorAccess(name: string, action: string): Access<MemberPrincipal, EditableResource> {
  return {
    ...member,
    name,
    description: `The owner, the editor or an admin may ${action}.`,
    problems: [Forbidden],
    resource: {
      allows: (principal, document) =>
        isOwnerOrAdmin(principal, document) || document.editor_id === principal.user_id,
      deny: () => Forbidden(`Only the owner, the editor or an admin may ${action}.`),
    },
  };
}

/** A request for approval with its approvers. */
export interface ApprovableResource {
  readonly approvers: readonly { readonly member_id: string }[];
}

/** The approvers of a request, with an access token. */
export const approver: Access<MemberPrincipal, ApprovableResource> = {
  ...person,
  name: 'approver, in person',
  description: 'The approvers of the request, with an access token. API keys are not accepted.',
  problems: [...(person.problems ?? []), Forbidden],
  resource: {
    allows: ({ user_id }, { approvers }) => approvers.some(({ member_id }) => member_id === user_id),
    deny: () => Forbidden('Only an approver of this request may decide on it.'),
  },
};

/** A request for approval with its submitter and the owner of its document, if the document still exists. */
export interface WithdrawableResource {
  readonly submitted_by: string;
  readonly created_by: string | undefined;
}

/** The member who submitted a draft, its owner and admins. */
export const submitterOwnerOrAdmin: Access<MemberPrincipal, WithdrawableResource> = {
  ...member,
  name: 'submitter, owner or admin',
  description: 'The submitter, the owner of the document or an admin may withdraw this request.',
  problems: [Forbidden],
  resource: {
    allows: (principal, { submitted_by, created_by = '' }) =>
      submitted_by === principal.user_id || isOwnerOrAdmin(principal, { created_by }),
    deny: () => Forbidden('Only the submitter, the owner or an admin may withdraw this request.'),
  },
};

/** A document with its owner and its reviewer. */
export interface ReviewableResource extends OwnedResource {
  readonly reviewer_id?: string | null;
}

/** The reviewer of a document, its owner and admins, with an access token. */
export const reviewerOwnerOrAdmin: Access<MemberPrincipal, ReviewableResource> = {
  ...person,
  name: 'reviewer, owner or admin, in person',
  description:
    'The reviewer, the owner or an admin may confirm this document, with an access token. API keys are not accepted.',
  problems: [...(person.problems ?? []), Forbidden],
  resource: {
    allows: (principal, document) =>
      document.reviewer_id === principal.user_id || isOwnerOrAdmin(principal, document),
    deny: () => Forbidden('Only the reviewer, the owner or an admin may confirm this document.'),
  },
};

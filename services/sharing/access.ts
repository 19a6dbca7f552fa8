/** The access rules that only acknowledgements have: owners of a document that the body names, and the audience. */
import { type Access, Forbidden } from '#libs/contract';
import { type MemberPrincipal, type OwnedResource, ownerOrAdmin, person } from '../identity/contract.ts';

/** The owner of a document that the body of the request names, and admins. */
export const documentOwnerOrAdmin: Access<MemberPrincipal, OwnedResource> = {
  ...ownerOrAdmin('request acknowledgements of this document'),
  name: 'its owner or admin',
};

/** Whether the audience of a request contains the caller. */
export interface AudienceResource {
  readonly isAsked: boolean;
}

/** The members whom a request asks, with an access token. */
export const audienceMember: Access<MemberPrincipal, AudienceResource> = {
  ...person,
  name: 'audience, in person',
  description:
    'The members whom the open request of the document asks, with an access token. API keys are not accepted.',
  problems: [...(person.problems ?? []), Forbidden],
  resource: {
    allows: (_, { isAsked }) => isAsked,
    deny: () => Forbidden('The request does not ask you.'),
  },
};

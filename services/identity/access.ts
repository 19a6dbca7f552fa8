/** Who may call an operation: the values that operations of every service carry. */
import { access, Forbidden } from '#libs/contract';
import type { Principal } from '#libs/http';
import type { MemberPrincipal } from './principal.ts';
import { ScalePlanRequired } from './problems.ts';

/** Any member of an organization, with an access token or an API key. */
export const member = access<MemberPrincipal>({
  name: 'member',
  description: 'Any member of the organization.',
  authorize: () => undefined,
});

/** An admin of the organization. */
export const admin = access<MemberPrincipal>({
  name: 'admin',
  description: 'Admins of the organization.',
  problems: [Forbidden],
  authorize: (asking) =>
    asking.role === 'admin' ? undefined : Forbidden('Only an admin of the organization may do this.'),
});

/** The operator of the installation, with `OPS_TOKEN`, on the management port. */
export const operator = access<Principal>({
  name: 'operator',
  description: 'The operator of the installation.',
  authorize: () => undefined,
});

/** Any member of an organization on the Scale plan. */
export const scaleMember = access<MemberPrincipal>({
  name: 'scale plan member',
  description: 'Any member of an organization on the Scale plan.',
  problems: [ScalePlanRequired],
  authorize: async (asking) => ((await asking.plan()) === 'scale' ? undefined : ScalePlanRequired()),
});

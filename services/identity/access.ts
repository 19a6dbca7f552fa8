/** Access rules: who may call an operation. The operations of all services use these values. */
import { access, Forbidden } from '#libs/contract';
import type { Principal } from '#libs/http';
import { ScalePlanRequired } from './problems.ts';
import type { Role } from './shapes.ts';

/** A member who is authenticated by an access token or by one of their API keys. */
export interface MemberPrincipal extends Principal {
  /** The member's role; with an API key the lower of the member's and the key's role. */
  readonly role: Role;
  /** Reads the organization's current plan. */
  plan(): Promise<string | undefined>;
}

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
  authorize: (principal) =>
    principal.role === 'admin' ? undefined : Forbidden('Only admins of the organization may do this.'),
});

/** The operator of the installation, who authenticates with `OPS_TOKEN` on the management port. */
export const operator = access<Principal>({
  name: 'operator',
  description: 'The operator of the installation.',
  authorize: () => undefined,
});

/** Any member of an organization on the Scale plan. */
export const scaleMember = access<MemberPrincipal>({
  name: 'member, Scale plan',
  description: 'Any member of an organization on the Scale plan.',
  problems: [ScalePlanRequired],
  authorize: async (principal) => ((await principal.plan()) === 'scale' ? undefined : ScalePlanRequired()),
});

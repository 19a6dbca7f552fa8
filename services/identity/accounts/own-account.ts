/** The caller's own account: shows it and changes its password. */
import { Unauthenticated } from '#libs/contract';
import { handle } from '#libs/http';
import type { Store } from '#libs/store';
import type { PasswordHasher } from '#libs/workers';
import { getMe, updatePassword, WrongPassword } from '../contract.ts';
import { toMember, toOrganization } from '../presenters.ts';
import { isUsualNetwork } from '../rules/usual-networks.ts';
import type { AccountRepository } from '../store/accounts.ts';
import type { WithLoginThrottle } from './login-throttle.ts';
import type { RejectWeakPassword } from './password-strength.ts';

/** What the operations on the caller's account need. */
export interface OwnAccountOptions {
  store: Pick<Store, 'respond'>;
  accounts: AccountRepository;
  rejectWeakPassword: RejectWeakPassword;
  passwords: PasswordHasher;
  withLoginThrottle: WithLoginThrottle;
  now: () => Date;
}

/** Handlers of the operations on the caller's account. */
export function ownAccountHandlers({
  store,
  accounts,
  rejectWeakPassword,
  passwords,
  withLoginThrottle,
  now,
}: OwnAccountOptions) {
  return [
    handle(getMe, async ({ actor }) => {
      const membership = await accounts.findMembership(actor.organization_id, actor.user_id);
      if (!membership) throw Unauthenticated();
      const { user, member, organization } = membership;
      return {
        user: { id: user._id, name: user.name, email: user.email },
        member: toMember(user, member),
        organization: toOrganization(organization),
      };
    }),

    handle(
      updatePassword,
      async ({ actor, body, call, authorize }) => {
        const user = await accounts.findUser(actor.user_id);
        if (!user) throw Unauthenticated();
        authorize(user);
        const { email } = user;
        const { address } = call;
        const isUsual = isUsualNetwork(user, address, now());
        const isRight = await withLoginThrottle({ email, address, isUsual }, async () =>
          (await passwords.verify(body.current_password, user.password)) ? true : undefined,
        );
        if (!isRight) throw WrongPassword();
        await rejectWeakPassword(body.new_password, [user.email, user.name], 'body/new_password');
        const password = await passwords.hash(body.new_password);
        return store.respond(actor, async (within) => {
          // false if another request has changed the password in the meantime
          if (!(await accounts.setPassword(within, user, password))) throw WrongPassword();
          return undefined;
        });
      },
      { authorizeReplay: async ({ authorize }) => authorize(undefined) },
    ),
  ];
}

/** Proving a password: how often it may be tried, counted before each try, so that many at once are no way round. */
import { accountFactor, type Limit, networkOf } from './rules/limits.ts';
import type { Counted, Limits } from './store/limits.ts';

/** Runs a proof of an account's password; it counts as a failure unless it gives something. `TooManyRequests`. */
export type WithLoginThrottle = <R>(
  account: { email: string; address: string },
  proof: () => Promise<R | undefined>,
) => Promise<R | undefined>;

/** Limits proofs: for the account from this network, and more softly for the account from anywhere; known or not, accounts count alike. */
export function loginThrottle(limits: Limits, failures: Limit): WithLoginThrottle {
  return async ({ email, address }, proof) => {
    const counted: [Counted, Limit][] = [
      [['failure', email, networkOf(address)], failures],
      [['failure', email], { ...failures, most: failures.most * accountFactor }],
    ];
    const taken: (() => Promise<void>)[] = [];
    const giveBack = () => Promise.all(taken.map((one) => one()));
    for (const [what, limit] of counted) taken.push(await limits.take(what, limit));
    const proven = await proof().catch(async (error: unknown) => {
      await giveBack();
      throw error;
    });
    if (proven !== undefined) await giveBack();
    return proven;
  };
}

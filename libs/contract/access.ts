/** Access rules: who may call an operation, as a value that is part of the operation. */
import type { Problem, ProblemKind } from './problem.ts';

/** Who may call an operation. Depends only on the principal and is checked before the request is parsed. */
export interface Access<Principal> {
  /** Short name for docs and tests, e.g. `member`. */
  readonly name: string;
  /** One sentence for the API reference. */
  readonly description: string;
  /** Whether the caller must authenticate. */
  readonly authenticated: boolean;
  /** Problems that `authorize` may return. Every operation with this access lists them. */
  readonly problems?: readonly ProblemKind[];
  /**
   * Returns a problem if the principal may not call the operation. Called only if `authenticated` is true.
   */
  authorize(principal: Principal): Problem | undefined | Promise<Problem | undefined>;
}

/** Declares an access rule for authenticated callers. */
export function access<Principal>(options: Omit<Access<Principal>, 'authenticated'>): Access<Principal> {
  return { ...options, authenticated: true };
}

/** Everyone, without credentials. */
export const anyone: Access<undefined> = {
  name: 'anyone',
  description: 'Public. No credentials required.',
  authenticated: false,
  authorize: () => undefined,
};

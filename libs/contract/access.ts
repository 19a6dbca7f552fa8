/** Access: who may call an operation, as a value that the operation carries. */
import type { Problem, ProblemKind } from './problem.ts';

/** Who may call: decided from the principal alone, before the request's form is looked at. */
export interface Access<Principal> {
  /** Short name for docs and tests, e.g. `member`. */
  readonly name: string;
  /** One sentence for the reference. */
  readonly description: string;
  /** Whether a principal is needed at all. */
  readonly authenticated: boolean;
  /** The problems that keep principals out: each operation with this access can answer with them. */
  readonly problems?: readonly ProblemKind[];
  /** The problem that keeps this principal out, or nothing. Only asked when `authenticated`. */
  authorize(principal: Principal): Problem | undefined | Promise<Problem | undefined>;
}

/** Declares who may call; `permits` gives the problem that keeps a principal out. */
export function access<Principal>(options: Omit<Access<Principal>, 'authenticated'>): Access<Principal> {
  return { ...options, authenticated: true };
}

/** Anyone, without credentials. */
export const anyone: Access<undefined> = {
  name: 'anyone',
  description: 'Public: no credentials needed.',
  authenticated: false,
  authorize: () => undefined,
};

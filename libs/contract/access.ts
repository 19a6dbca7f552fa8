/** Access rules: who may call an operation, as a value that is part of the operation. */
import type { Problem, ProblemKind } from './problem.ts';

/**
 * Who may call an operation. `authorize` depends only on the principal and is checked before the request is
 * parsed; `resource` is checked by the handler, which loads the resource.
 */
export interface Access<Principal, Resource = never> {
  /** Short name for docs and tests, e.g. `member`. */
  readonly name: string;
  /** One sentence for the API reference. */
  readonly description: string;
  /** Whether the caller must authenticate. */
  readonly authenticated: boolean;
  /** Whether some resources ask for a password, with Basic authentication. The handler checks it. */
  readonly takesPassword?: boolean;
  /** Problems that `authorize` and `resource` may give. Every operation with this access lists them. */
  readonly problems?: readonly ProblemKind[];
  /**
   * Returns a problem if the principal may not call the operation. Called only if `authenticated` is true.
   */
  authorize(principal: Principal): Problem | undefined | Promise<Problem | undefined>;
  /** The rule for the resource that the request names, if access depends on it. */
  readonly resource?: ResourceRule<Principal, Resource>;
}

/** A rule that depends on a resource, e.g. that the principal must be its owner. */
export interface ResourceRule<Principal, Resource> {
  /** Returns whether the principal may call the operation on this resource. */
  allows(principal: Principal, resource: Resource): boolean;
  /** Creates the problem for everyone else. */
  deny(): Problem;
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

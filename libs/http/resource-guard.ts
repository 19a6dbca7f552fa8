/** Checks the part of an access rule that depends on the resource, which only a handler can load. */
import type { AnyOperation } from '#libs/contract';

/**
 * Creates the `authorize` of a request. `assertAuthorized` throws if the handler has not called it, which is a
 * bug: a permission must not be forgotten.
 */
export function createResourceGuard(
  { id, access: { resource: rule } }: AnyOperation,
  principal: unknown,
): { authorize(resource: unknown): void; assertAuthorized(): void } {
  let isAuthorized = rule === undefined;
  return {
    authorize(resource) {
      if (!rule) throw new Error(`The access rule of ${id} has no resource`);
      if (!rule.allows(principal, resource)) throw rule.deny();
      isAuthorized = true;
    },
    assertAuthorized() {
      if (!isAuthorized) throw new Error(`The handler of ${id} did not authorize the resource`);
    },
  };
}

/** A budget for the bytes of all request bodies that a process holds, so that clients cannot exhaust its memory. */
import { Unavailable } from '#libs/contract';

/** Bodies above this size are large. */
export const smallBodyBytes = 1024 * 1024;

/**
 * How the budget is divided: large bodies, which arrive slowly, never exclude small ones, and requests without
 * credentials never exclude others.
 */
const shares = { anonymous: 1 / 6, small: 1 / 6, large: 2 / 3 };

/** A part of the budget. */
export type BodyPart = keyof typeof shares;

/** The bytes that one request holds. */
export interface BodyLease {
  /** Takes bytes as they arrive. Throws `Unavailable` if other requests hold too many. */
  take(bytes: number): void;
  /** Returns all bytes, once the response has ended. */
  release(): void;
}

/** Opens a lease for one request. */
export type BodyBudget = (part: BodyPart) => BodyLease;

/** Creates a budget. */
export function createBodyBudget(maxBytes: number): BodyBudget {
  const free = {
    anonymous: maxBytes * shares.anonymous,
    small: maxBytes * shares.small,
    large: maxBytes * shares.large,
  };
  return (part) => {
    let held = 0;
    let hasEnded = false;
    return {
      take(bytes) {
        if (hasEnded) throw Unavailable();
        free[part] -= bytes;
        held += bytes;
        if (free[part] < 0)
          throw Unavailable(
            'The service is receiving too much data. Try again after the time in `Retry-After`.',
            { headers: { 'Retry-After': '1' } },
          );
      },
      release() {
        hasEnded = true;
        free[part] += held;
        held = 0;
      },
    };
  };
}

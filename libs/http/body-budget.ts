/** A budget for the bytes of all request bodies that a process holds, so that clients cannot exhaust its memory. */
import { Unavailable } from '#libs/contract';

/** Bodies above this size are large. */
export const smallBodyBytes = 1024 * 1024;

/** How the budget is divided: for requests without credentials, small bodies and large bodies. */
const shares = { anonymous: 1 / 6, small: 1 / 6, large: 2 / 3 };

/** The bytes that one request holds. */
export interface BodyLease {
  /** Takes bytes as they arrive. Throws `Unavailable` if other requests hold too many. */
  take(bytes: number): void;
  /** Returns all bytes, once the response has ended. */
  release(): void;
}

/** Opens a lease for one request, with credentials or without. */
export type BodyBudget = (caller: 'authenticated' | 'anonymous') => BodyLease;

/**
 * Creates a budget. It is divided, so that large bodies, which arrive slowly, never exclude small ones, and requests
 * without credentials never exclude others.
 */
export function createBodyBudget(maxBytes: number): BodyBudget {
  const free = {
    anonymous: maxBytes * shares.anonymous,
    small: maxBytes * shares.small,
    large: maxBytes * shares.large,
  };
  return (caller) => {
    let part: keyof typeof free = caller === 'anonymous' ? 'anonymous' : 'small';
    let held = 0;
    let hasEnded = false;
    const move = (bytes: number) => {
      free[part] -= bytes;
      held += bytes;
    };
    return {
      take(bytes) {
        if (hasEnded) throw Unavailable();
        if (part === 'small' && held + bytes > smallBodyBytes) {
          const moved = held;
          move(-moved);
          part = 'large';
          move(moved);
        }
        move(bytes);
        if (free[part] < 0)
          throw Unavailable(
            'The service is receiving too much data. Try again after the time in `Retry-After`.',
            { headers: { 'Retry-After': '1' } },
          );
      },
      release() {
        hasEnded = true;
        move(-held);
      },
    };
  };
}

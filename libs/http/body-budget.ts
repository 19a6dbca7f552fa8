/** A budget for the bytes of all request bodies that a process holds, so that clients cannot exhaust its memory. */
import { Unavailable } from '#libs/contract';

/** Bodies above this size are large. */
export const smallBodyBytes = 1024 * 1024;

/** The bytes that one request holds. */
export interface BodyLease {
  /** Takes bytes as they arrive. Throws `Unavailable` if other requests hold too many. */
  take(bytes: number): void;
  /** Returns all bytes, once the response has ended. */
  release(): void;
}

/** Opens a lease for one request. */
export type BodyBudget = () => BodyLease;

/**
 * Creates a budget. Bodies above 1 MiB share two thirds of it and the others one third, so that large bodies,
 * which arrive slowly, never exclude small ones.
 */
export function createBodyBudget(maxBytes: number): BodyBudget {
  const free = { small: maxBytes / 3, large: (maxBytes * 2) / 3 };
  return () => {
    let size: keyof typeof free = 'small';
    let held = 0;
    let hasEnded = false;
    const move = (bytes: number) => {
      free[size] -= bytes;
      held += bytes;
    };
    return {
      take(bytes) {
        if (hasEnded) throw Unavailable();
        if (size === 'small' && held + bytes > smallBodyBytes) {
          const moved = held;
          move(-moved);
          size = 'large';
          move(moved);
        }
        move(bytes);
        if (free[size] < 0)
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

/** A budget for the bytes of all request bodies that a process holds, so that clients cannot exhaust its memory. */
import { Unavailable } from '#libs/contract';
import type { Principal } from './handle.ts';
import { toNetworks } from './networks.ts';

/** Bodies above this size are large. */
export const smallBodyBytes = 1024 * 1024;

/** The limit for requests without credentials, which anyone can send. */
export const anonymousBodyBytes = 16 * 1024;

/**
 * How the budget is divided: large bodies, which arrive slowly, never exclude small ones, and requests without
 * credentials never exclude others. One client may hold only `clientShare` of a part, but always a body of
 * `largestBytes`.
 */
const divisions = {
  anonymous: { share: 1 / 6, clientShare: 1 / 8, largestBytes: anonymousBodyBytes },
  small: { share: 1 / 6, clientShare: 3 / 4, largestBytes: smallBodyBytes },
  large: { share: 2 / 3, clientShare: 3 / 4, largestBytes: 32 * 1024 * 1024 },
};

/** A part of the budget. */
export type BodyPart = keyof typeof divisions;

/** A client whose bytes are counted together. It may hold `factor` times the share of one client. */
export interface BodyClient {
  id: string;
  factor: number;
}

/**
 * Returns the clients that a request counts for: its organization, or without credentials each network of its address.
 */
export function toBodyClients(principal: Principal | undefined, address: string): BodyClient[] {
  if (principal) return [{ id: principal.organization_id, factor: 1 }];
  return toNetworks(address).map(({ network, factor }) => ({ id: network, factor }));
}

/** The bytes that one request holds. */
export interface BodyLease {
  /** Takes bytes as they arrive. Throws `Unavailable` if the client, or all requests together, hold too many. */
  take(bytes: number): void;
  /** Returns all bytes, once the response has ended. */
  release(): void;
}

/** Opens a lease for one request. */
export type BodyBudget = (part: BodyPart, clients: readonly BodyClient[]) => BodyLease;

/** Creates a budget. */
export function createBodyBudget(maxBytes: number): BodyBudget {
  const parts = {
    anonymous: createPart(maxBytes, divisions.anonymous),
    small: createPart(maxBytes, divisions.small),
    large: createPart(maxBytes, divisions.large),
  };
  return (part, clients) => {
    const { add, isExceeded, isExceededBy } = parts[part];
    let held = 0;
    let hasEnded = false;
    return {
      take(bytes) {
        if (hasEnded) throw Unavailable();
        held += bytes;
        add(clients, bytes);
        if (clients.some(isExceededBy)) throw createError('You are sending too much data at the same time.');
        if (isExceeded()) throw createError('The service is receiving too much data.');
      },
      release() {
        hasEnded = true;
        add(clients, -held);
        held = 0;
      },
    };
  };
}

/** Counts the bytes of one part: all of them, and those of each client that holds any. */
function createPart(maxBytes: number, { share, clientShare, largestBytes }: (typeof divisions)[BodyPart]) {
  const maxClientBytes = Math.max(maxBytes * share * clientShare, largestBytes);
  const heldByClient = new Map<string, number>();
  let held = 0;
  return {
    add(clients: readonly BodyClient[], bytes: number): void {
      held += bytes;
      for (const { id } of clients) {
        const sum = (heldByClient.get(id) ?? 0) + bytes;
        if (sum > 0) heldByClient.set(id, sum);
        else heldByClient.delete(id);
      }
    },
    isExceeded: () => held > maxBytes * share,
    isExceededBy: ({ id, factor }: BodyClient) => (heldByClient.get(id) ?? 0) > maxClientBytes * factor,
  };
}

function createError(reason: string): Error {
  return Unavailable(`${reason} Try again after the time in \`Retry-After\`.`, {
    headers: { 'Retry-After': '1' },
  });
}

/** Authenticates the operator of the installation by `OPS_TOKEN`, and limits how often a caller may guess it. */
import { timingSafeEqual } from 'node:crypto';
import { rateLimitHeaders, type Secret, TooManyRequests } from '#libs/contract';
import { type Authenticate, type Principal, tokenBucket } from '#libs/http';
import { hashCredential } from './principal.ts';
import { toNetwork } from './rules/rate-limit.ts';

const operator: Principal = { organization_id: 'operator', user_id: 'operator', key_id: null };

/** What the operator is authenticated with. */
export interface OperatorOptions {
  opsToken: Secret | undefined;
  /** Wrong tokens that one address may send per minute; 0 turns the limit off. */
  failuresPerMinute: number;
  now: () => Date;
}

/**
 * Creates the function that authenticates the operator. Without `OPS_TOKEN` it accepts no token. It rejects with
 * `TooManyRequests` while an address is above the limit, whether the token is right or wrong.
 */
export function createOperatorReader({ opsToken, failuresPerMinute, now }: OperatorOptions): Authenticate {
  const expected = opsToken && Buffer.from(hashCredential(opsToken.reveal()));
  const limit = {
    name: 'operator-token-failures',
    perMinute: failuresPerMinute,
    burst: failuresPerMinute,
    now: () => now().getTime(),
  };
  const failures = failuresPerMinute > 0 ? tokenBucket(limit) : undefined;
  return async (token, address) => {
    const network = toNetwork(address);
    const waitS = failures?.(network, 'peek') ?? 0;
    if (failures && waitS > 0)
      throw TooManyRequests(undefined, { headers: rateLimitHeaders(failures.policy, waitS) });
    if (expected && timingSafeEqual(Buffer.from(hashCredential(token)), expected)) return operator;
    failures?.(network);
    return undefined;
  };
}

/** Rate limit headers (draft-ietf-httpapi-ratelimit-headers). */

/** A rate limit: `quota` requests within `windowSeconds`. */
export interface RateLimitPolicy {
  /** Lower-case words with dashes. Sent to callers. */
  readonly name: string;
  readonly quota: number;
  readonly windowSeconds: number;
}

/**
 * Returns the headers of a 429: the policy, zero remaining requests, and `waitSeconds` until the next one is
 * allowed.
 */
export function rateLimitHeaders(
  { name, quota, windowSeconds }: RateLimitPolicy,
  waitSeconds: number,
): Record<string, string> {
  return {
    'Retry-After': String(waitSeconds),
    'RateLimit-Policy': `"${name}";q=${quota};w=${windowSeconds}`,
    RateLimit: `"${name}";r=0;t=${waitSeconds}`,
  };
}

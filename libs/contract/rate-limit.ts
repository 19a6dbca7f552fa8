/** What a caller learns of a limit that is used up, as headers (draft-ietf-httpapi-ratelimit-headers). */

/** A limit: so many requests within a window of time. */
export interface RateLimitPolicy {
  /** Lower-case words with dashes; callers read it. */
  readonly name: string;
  readonly quota: number;
  readonly windowSeconds: number;
}

/** The headers of a 429: the policy, that nothing is left of it, and the whole seconds until the next request may come. */
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

/** The headers of the responses of public links. */

/** The headers of every response of a public link, including problems. */
export const publicHeaders = {
  'Cache-Control': 'no-cache',
  'Referrer-Policy': 'no-referrer',
  'X-Robots-Tag': 'noindex',
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': 'ETag, RateLimit, RateLimit-Policy, Retry-After, X-Request-Id',
  'Cross-Origin-Resource-Policy': 'cross-origin',
  Vary: 'Accept',
};

/** The headers of every response of a personal link, including problems. No other site may read it. */
export const personalHeaders = {
  'Cache-Control': 'private, no-cache',
  'Referrer-Policy': 'no-referrer',
  'X-Robots-Tag': 'noindex',
  Vary: 'Accept',
};

/** The headers of every response of a link with a password: shared caches must not store it. */
export const protectedHeaders = {
  ...publicHeaders,
  'Cache-Control': 'private, no-cache',
  Vary: 'Accept, Authorization, Cookie',
};

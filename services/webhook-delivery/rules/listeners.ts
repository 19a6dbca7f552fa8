/** Limits of listeners, which receive the events of an organization by long polling. */

/** Maximum number of listeners per organization. */
export const maxListeners = 10;

/** A listener ends if it requests no events for this long, ms. */
export const listenerLifetimeMs = 15 * 60_000;

/** The time of the last request is stored again after this time, ms. */
export const touchAfterMs = 15_000;

/** A listener ends if it has more unconfirmed events than this. */
export const maxUnconfirmed = 10_000;

/** Maximum number of events in one response, and in one confirmation. */
export const maxEventsPerRequest = 100;

/** Longest wait of one request, s. Ingress controllers and load balancers close idle requests after 60 s. */
export const maxWaitSeconds = 30;

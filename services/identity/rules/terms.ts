/** The terms of a subscription: in which period publishes are counted, and when the count restarts. */

/** What a plan allows. */
export interface Terms {
  publish_limit: number | null;
  renews: 'monthly' | 'never';
  /** Incremented whenever the plan is set. */
  terms_version: number;
}

/** The period in which a publish at `at` is counted: a UTC month such as `2026-11`, or `all`. */
export function toPeriod(terms: Pick<Terms, 'renews'>, at: Date): string {
  return terms.renews === 'monthly' ? at.toISOString().slice(0, 7) : 'all';
}

/** When the count restarts, as an ISO timestamp; null if it never does. */
export function nextRenewal(terms: Pick<Terms, 'renews'>, at: Date): string | null {
  if (terms.renews === 'never') return null;
  return new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 1)).toISOString();
}

/** The terms of a subscription: what is counted together, and when the count starts anew. */

/** What a plan allows. */
export interface Terms {
  publish_limit: number | null;
  renews: 'monthly' | 'never';
  /** Counts the times the plan was set. */
  terms_version: number;
}

/** The period that a publish counts in: `2026-11` (UTC) or `all`. */
export function toPeriod(terms: Pick<Terms, 'renews'>, at: Date): string {
  return terms.renews === 'monthly' ? at.toISOString().slice(0, 7) : 'all';
}

/** When the count starts anew; null when it never does. */
export function nextRenewal(terms: Pick<Terms, 'renews'>, at: Date): string | null {
  if (terms.renews === 'never') return null;
  return new Date(Date.UTC(at.getUTCFullYear(), at.getUTCMonth() + 1, 1)).toISOString();
}

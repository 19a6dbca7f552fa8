/** The plans and what each allows. */

/** The publish limits that the operator sets. */
export interface PlanLimits {
  /** Publishes of the trial plan in total. */
  trialPublishes: number;
  /** Publishes of the team plan per month. */
  teamPublishes: number;
}

/** The names of the plans. */
export const planNames = ['trial', 'team', 'scale'] as const;

/** The publish limit of a plan (null means unlimited) and whether it renews every month. */
export function getPlanTerms(
  plan: string,
  limits: PlanLimits,
): { publishLimit: number | null; renews: 'monthly' | 'never' } {
  if (plan === 'scale') return { publishLimit: null, renews: 'monthly' };
  if (plan === 'team') return { publishLimit: limits.teamPublishes, renews: 'monthly' };
  return { publishLimit: limits.trialPublishes, renews: 'never' };
}

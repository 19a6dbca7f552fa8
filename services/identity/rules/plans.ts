/** Plans: what each allows. */

/** The limits that the operator sets. */
export interface PlanTerms {
  /** Publish events of the trial plan, in all. */
  trialPublishes: number;
  /** Publish events of the team plan, a month. */
  teamPublishes: number;
}

export const planNames = ['trial', 'team', 'scale'] as const;

/** The publish limit of a plan (null: none) and whether it renews every month. */
export function termsOf(
  plan: string,
  terms: PlanTerms,
): { publishLimit: number | null; renews: 'monthly' | 'never' } {
  if (plan === 'scale') return { publishLimit: null, renews: 'monthly' };
  if (plan === 'team') return { publishLimit: terms.teamPublishes, renews: 'monthly' };
  return { publishLimit: terms.trialPublishes, renews: 'never' };
}

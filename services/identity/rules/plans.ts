/** The plans and what each allows. */
import { defaultStorageLimits, type StorageLimits } from './storage-limits.ts';

/** The names of the plans. */
export const planNames = ['trial', 'team', 'scale'] as const;
export type PlanName = (typeof planNames)[number];

/** The limits that the operator sets. */
export interface PlanLimits {
  /** Publishes of the trial plan in total. */
  trialPublishes: number;
  /** Publishes of the team plan per month. */
  teamPublishes: number;
  /** The storage limits that differ from the defaults. */
  storage: Readonly<Partial<Record<PlanName, StorageLimits | undefined>>>;
}

/** What a plan allows. */
export interface PlanTerms {
  /** Null means unlimited. */
  publishLimit: number | null;
  renews: 'monthly' | 'never';
  storageLimits: StorageLimits;
}

/** Returns what a plan allows, with the limits of the operator. */
export function getPlanTerms(plan: PlanName, limits: PlanLimits): PlanTerms {
  const storageLimits = { ...defaultStorageLimits[plan], ...limits.storage[plan] };
  if (plan === 'scale') return { publishLimit: null, renews: 'monthly', storageLimits };
  if (plan === 'team') return { publishLimit: limits.teamPublishes, renews: 'monthly', storageLimits };
  return { publishLimit: limits.trialPublishes, renews: 'never', storageLimits };
}

/** The settings of identity. */
import { z } from 'zod';
import { appUrl, integer, secret } from '#libs/service';
import type { SignInLimits } from './rules/limits.ts';
import { type PlanTerms, planNames } from './rules/plans.ts';

/** Names in the environment and their shapes. */
export const identitySettings = z.object({
  APP_URL: appUrl.meta({ description: 'Where people reach the application; part of invitation links' }),
  GUIDES_URL: z
    .url({ protocol: /^https?$/ })
    .optional()
    .meta({
      description:
        'Where your users read the guides (the folder docs of the repository), linked on the start page; unset, the page names the folder',
    }),
  REGISTRATIONS_PER_HOUR: integer
    .default(10)
    .meta({ description: 'Registrations from one address; 0 is no limit' }),
  LOGINS_PER_MINUTE: integer.default(10).meta({
    description:
      'Attempts from one address to log in, register, accept an invitation or use a password reset; 0 is no limit',
  }),
  LOGIN_FAILURES_PER_15_MINUTES: integer
    .default(10)
    .meta({ description: 'Failed logins of one account from one address; 0 is no limit' }),
  PASSWORD_HASH_CONCURRENCY: integer.pipe(z.number().min(1).max(64)).default(2).meta({
    description: 'Passwords that a process checks at once; each takes a thread of UV_THREADPOOL_SIZE',
  }),
  SIGNING_KEY_ROTATION_DAYS: integer
    .pipe(z.number().min(1))
    .default(30)
    .meta({ description: 'After how many days access tokens are signed with a new key' }),
  DEFAULT_PLAN: z.enum(planNames).default('trial').meta({ description: 'Plan of a new organization' }),
  OPS_TOKEN: secret
    .optional()
    .meta({ description: 'Token of the operator on the management port; off when unset' }),
  PUBLISH_LIMIT_TRIAL: integer.default(5).meta({ description: 'Publish events of the trial plan in all' }),
  PUBLISH_LIMIT_TEAM: integer.default(200).meta({ description: 'Publish events of the team plan a month' }),
});

/** The limits of signing in that the settings name. */
export function signInLimits(settings: z.output<typeof identitySettings>): SignInLimits {
  const minuteMs = 60_000;
  return {
    registrations: { most: settings.REGISTRATIONS_PER_HOUR, windowMs: 60 * minuteMs },
    logins: { most: settings.LOGINS_PER_MINUTE, windowMs: minuteMs },
    failures: { most: settings.LOGIN_FAILURES_PER_15_MINUTES, windowMs: 15 * minuteMs },
  };
}

/** What the settings say of plans. */
export function planTerms(settings: z.output<typeof identitySettings>): PlanTerms {
  return { trialPublishes: settings.PUBLISH_LIMIT_TRIAL, teamPublishes: settings.PUBLISH_LIMIT_TEAM };
}

/** The settings of identity. */
import { z } from 'zod';
import { appUrl, count, integer, passwordHashConcurrency, secret } from '#libs/service';
import type { OperatorOptions } from './operator.ts';
import { type PlanLimits, type PlanName, planNames } from './rules/plans.ts';
import type { SignInLimits } from './rules/rate-limit.ts';
import { defaultStorageLimits, formatStorageLimits, parseStorageLimits } from './rules/storage-limits.ts';

/** The shortest token that cannot be guessed: 16 random bytes in hexadecimal. */
const minTokenLength = 16;

/** The error message does not contain the value. */
const opsToken = secret
  .refine((value) => value.reveal().length >= minTokenLength && !/\s/.test(value.reveal()), {
    message: `must have at least ${minTokenLength} characters and no spaces (openssl rand -hex 32)`,
  })
  .optional();

/** The storage limits of a plan that differ from the defaults. */
const storageLimitsOf = (plan: PlanName) =>
  z
    .string()
    .transform((text, context) => {
      const parsed = parseStorageLimits(text);
      if ('limits' in parsed) return parsed.limits;
      context.addIssue({ code: 'custom', message: parsed.fault });
      return z.NEVER;
    })
    .optional()
    .meta({
      description: `Storage limits of the ${plan} plan that differ from \`${formatStorageLimits(defaultStorageLimits[plan])}\``,
    });

/** The environment variables with their schemas. */
export const identitySettings = z.object({
  APP_URL: appUrl.meta({
    description: 'Base URL of the application, used in invitation and password reset links',
  }),
  GUIDES_URL: z
    .url({ protocol: /^https?$/ })
    .optional()
    .meta({
      description:
        'URL of the guides (the folder docs of the repository), linked on the start page; if unset, the page names the folder',
    }),
  REGISTRATION: z.enum(['open', 'closed']).default('open').meta({
    description:
      'Whether anyone may register an organization. If closed, the operator creates organizations and invites their admins',
  }),
  REGISTRATIONS_PER_HOUR: count
    .default(10)
    .meta({ description: 'Registrations per hour from one address; 0 turns the limit off' }),
  LOGINS_PER_MINUTE: count.default(10).meta({
    description:
      'Attempts per minute from one address to log in, register, accept an invitation or use a password reset; 0 turns the limit off',
  }),
  LOGIN_FAILURES_PER_15_MINUTES: count.default(10).meta({
    description: 'Failed logins to one account from one address in 15 minutes; 0 turns the limit off',
  }),
  PASSWORD_HASH_CONCURRENCY: passwordHashConcurrency,
  SIGNING_KEY_ROTATION_DAYS: integer
    .pipe(z.number().min(1).max(3650))
    .default(30)
    .meta({ description: 'Days after which a new key signs access tokens' }),
  DEFAULT_PLAN: z.enum(planNames).default('trial').meta({ description: 'Plan of new organizations' }),
  OPS_TOKEN: opsToken.meta({
    description: `Bearer token of the operator on the management port, at least ${minTokenLength} characters; if unset, the operator operations are off`,
  }),
  OPS_TOKEN_FAILURES_PER_MINUTE: count.default(10).meta({
    description: 'Wrong operator tokens per minute from one address; 0 turns the limit off',
  }),
  PUBLISH_LIMIT_TRIAL: count
    .default(5)
    .meta({ description: 'Publishes that the trial plan allows in total' }),
  PUBLISH_LIMIT_TEAM: count
    .default(200)
    .meta({ description: 'Publishes that the team plan allows per month' }),
  STORAGE_LIMITS_TRIAL: storageLimitsOf('trial'),
  STORAGE_LIMITS_TEAM: storageLimitsOf('team'),
  STORAGE_LIMITS_SCALE: storageLimitsOf('scale'),
});

/** Maps the settings to the rate limits of signing in. */
export function toSignInLimits(settings: z.output<typeof identitySettings>): SignInLimits {
  const minuteMs = 60_000;
  return {
    registrations: { max: settings.REGISTRATIONS_PER_HOUR, windowMs: 60 * minuteMs },
    logins: { max: settings.LOGINS_PER_MINUTE, windowMs: minuteMs },
    failures: { max: settings.LOGIN_FAILURES_PER_15_MINUTES, windowMs: 15 * minuteMs },
  };
}

/** Maps the settings to the limits of the plans. */
export function toPlanLimits(settings: z.output<typeof identitySettings>): PlanLimits {
  return {
    trialPublishes: settings.PUBLISH_LIMIT_TRIAL,
    teamPublishes: settings.PUBLISH_LIMIT_TEAM,
    storage: {
      trial: settings.STORAGE_LIMITS_TRIAL,
      team: settings.STORAGE_LIMITS_TEAM,
      scale: settings.STORAGE_LIMITS_SCALE,
    },
  };
}

/** Maps the settings to how the operator authenticates. */
export function toOperatorAccess(
  settings: z.output<typeof identitySettings>,
): Pick<OperatorOptions, 'opsToken' | 'failuresPerMinute'> {
  return { opsToken: settings.OPS_TOKEN, failuresPerMinute: settings.OPS_TOKEN_FAILURES_PER_MINUTE };
}

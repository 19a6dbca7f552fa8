/** The settings of identity. */
import { z } from 'zod';
import { integer, secret } from '#libs/service';
import { planNames } from './rules/plans.ts';

/** Names in the environment and their shapes. */
export const identitySettings = z.object({
  APP_URL: z
    .url()
    .default('http://127.0.0.1:8080')
    .transform((url) => url.replace(/\/$/, ''))
    .meta({ description: 'Where people reach the application; part of invitation links' }),
  DEFAULT_PLAN: z.enum(planNames).default('trial').meta({ description: 'Plan of a new organization' }),
  OPS_TOKEN: secret
    .optional()
    .meta({ description: 'Token of the operator on the management port; off when unset' }),
  PUBLISH_LIMIT_TRIAL: integer.default(5).meta({ description: 'Publish events of the trial plan in all' }),
  PUBLISH_LIMIT_TEAM: integer.default(200).meta({ description: 'Publish events of the team plan a month' }),
});

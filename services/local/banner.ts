/** What a local run prints once it is ready. */
import { z } from 'zod';

const limit = z.number();

/** The settings that the banner tells, parsed. */
export const activeSettings = z.object({
  DEFAULT_PLAN: z.enum(['trial', 'team', 'scale']),
  WEBHOOK_ALLOW_INSECURE_TARGETS: z.boolean(),
  WEBHOOK_ALLOWED_CIDRS: z.array(z.unknown()),
  RATE_LIMIT_PER_MINUTE: limit,
  REGISTRATIONS_PER_HOUR: limit,
  LOGINS_PER_MINUTE: limit,
  LOGIN_FAILURES_PER_15_MINUTES: limit,
  EMBED_NOT_FOUND_RATE_LIMIT_PER_MINUTE: limit,
});
export type ActiveSettings = z.infer<typeof activeSettings>;

/** What the banner shows. */
export interface BannerOptions {
  base: string;
  link: string;
  apiKey: string;
  management: string;
  database: string;
  dataDir: string;
  settings: ActiveSettings;
}

/** Everything worth knowing, one line each. */
export function formatBanner({
  base,
  link,
  apiKey,
  management,
  database,
  dataDir,
  settings,
}: BannerOptions): string {
  const inForce = formatSettings(settings).map((line) => `    ${line}\n`);
  return `
  Process Document Service is ready.

  API            ${base}   (in a browser: where to begin)
  Reference      ${base}/docs
  Demo API key   ${apiKey}
  Public link    ${link}
  Management     ${management}   (health and metrics)
  Data           ${dataDir}   (${database})

  Try:  curl -H 'Authorization: Bearer ${apiKey}' ${base}/documents

  Settings in force (docs/settings.md explains all):
${inForce.join('')}
  For local work only: it listens on this machine alone. Ctrl-C stops everything.
`;
}

const planTitles = { trial: 'Trial', team: 'Team', scale: 'Scale' };

/** A line for each setting that changes what you can try: what holds, and the setting that says so. */
function formatSettings(settings: ActiveSettings): string[] {
  const plan = settings.DEFAULT_PLAN;
  const noWebhooks = plan === 'scale' ? '' : ', which has no webhooks';
  const networks =
    settings.WEBHOOK_ALLOWED_CIDRS.length > 0 ? ' and to the networks of WEBHOOK_ALLOWED_CIDRS' : '';
  const targets = settings.WEBHOOK_ALLOW_INSECURE_TARGETS
    ? `may go to this machine, also by http${networks} (WEBHOOK_ALLOW_INSECURE_TARGETS=true)`
    : `may go to public https addresses${networks}, not to this machine (WEBHOOK_ALLOW_INSECURE_TARGETS=false)`;
  return [
    `New organizations get the ${planTitles[plan]} plan${noWebhooks} (DEFAULT_PLAN=${plan}).`,
    `Webhooks ${targets}.`,
    `Rate limits: ${formatRateLimits(settings)}.`,
  ];
}

const limitSettings = [
  'RATE_LIMIT_PER_MINUTE',
  'REGISTRATIONS_PER_HOUR',
  'LOGINS_PER_MINUTE',
  'LOGIN_FAILURES_PER_15_MINUTES',
  'EMBED_NOT_FOUND_RATE_LIMIT_PER_MINUTE',
] as const;

function formatRateLimits(settings: ActiveSettings): string {
  const inForce = limitSettings.filter((name) => settings[name] > 0);
  if (inForce.length === 0) return 'none';
  const rest = inForce.length < limitSettings.length ? '; no others' : '';
  return inForce.map((name) => `${name}=${settings[name]}`).join(', ') + rest;
}

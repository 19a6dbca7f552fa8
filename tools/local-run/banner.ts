/** The banner that a local run prints when it is ready. */
import { z } from 'zod';

const limit = z.number();

/** The settings that the banner shows, with their active values. */
export const activeSettings = z.object({
  REGISTRATION: z.enum(['open', 'closed']),
  DEFAULT_PLAN: z.enum(['trial', 'team', 'scale']),
  WEBHOOK_ALLOW_INSECURE_TARGETS: z.boolean(),
  WEBHOOK_ALLOWED_CIDRS: z.array(z.unknown()),
  RATE_LIMIT_PER_MINUTE: limit,
  REGISTRATIONS_PER_HOUR: limit,
  LOGINS_PER_MINUTE: limit,
  LOGIN_FAILURES_PER_15_MINUTES: limit,
  EMBED_NOT_FOUND_RATE_LIMIT_PER_MINUTE: limit,
});
/** The active values of the settings that the banner shows. */
export type ActiveSettings = z.infer<typeof activeSettings>;

/** The demo organization: its API key and the URL of its public link. */
export interface DemoAccess {
  apiKey: string;
  link: string;
}

/** What the banner shows: URLs, the demo organization if there is one, and where the data is. */
export interface BannerOptions {
  base: string;
  demo: DemoAccess | undefined;
  management: string;
  database: string;
  dataDir: string;
  /** Whether the services run in a container, whose port may be published. */
  inContainer: boolean;
  settings: ActiveSettings;
}

/** Formats the banner. */
export function formatBanner(options: BannerOptions): string {
  const { base, demo, management, database, dataDir, inContainer, settings } = options;
  const machine = inContainer ? 'this container' : 'this machine';
  const settingLines = formatSettings(settings, machine).map((line) => `    ${line}\n`);
  const access = demo ? `  Demo API key   ${demo.apiKey}\n  Public link    ${demo.link}\n` : '';
  return `
  Process Document Service is ready.

  API            ${base}   (open it in a browser for the start page)
  Reference      ${base}/docs
${access}  Management     ${management}   (health and metrics)
  Data           ${dataDir}   (${database})

${demo ? formatExample(base, demo) : formatOperatorExample(management, dataDir)}
  Active settings (docs/settings.md explains all settings):
${settingLines.join('')}
  ${inContainer ? containerNote : localNote} Press Ctrl-C to stop everything.
`;
}

const localNote = 'For local development only: it accepts connections from this machine only.';
const containerNote = 'For trying only: everyone who reaches the published port may register.';

function formatExample(base: string, { apiKey }: DemoAccess): string {
  return `  Try:  curl -H 'Authorization: Bearer ${apiKey}' ${base}/documents\n`;
}

function formatOperatorExample(management: string, dataDir: string): string {
  return `  Registration is closed (REGISTRATION=closed), so there is no demo organization. As the operator, create an
  organization and invite its admin (docs/deployment.md#closed-registration). OPS_TOKEN is in
  ${dataDir}/secrets.json, unless you set it:

    curl -X POST ${management}/ops/organizations -H "Authorization: Bearer $OPS_TOKEN" \\
      -H 'Content-Type: application/json' -d '{"name": "Harbour Bank"}'
    curl -X POST ${management}/ops/organizations/$ORGANIZATION_ID/invitations \\
      -H "Authorization: Bearer $OPS_TOKEN" -H 'Content-Type: application/json' -d '{"email": "ada@example.com"}'
`;
}

const planTitles = { trial: 'Trial', team: 'Team', scale: 'Scale' };

/** One line for each setting that limits what you can try: the effect and the setting. */
function formatSettings(settings: ActiveSettings, machine: string): string[] {
  const plan = settings.DEFAULT_PLAN;
  const noWebhooks = plan === 'scale' ? '' : ', which has no webhooks';
  const networks =
    settings.WEBHOOK_ALLOWED_CIDRS.length > 0 ? ' and to the networks of WEBHOOK_ALLOWED_CIDRS' : '';
  const targets = settings.WEBHOOK_ALLOW_INSECURE_TARGETS
    ? `may be sent to ${machine}, also over http${networks} (WEBHOOK_ALLOW_INSECURE_TARGETS=true)`
    : `may be sent to public https addresses${networks}, not to ${machine} (WEBHOOK_ALLOW_INSECURE_TARGETS=false)`;
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
  const active = limitSettings.filter((name) => settings[name] > 0);
  if (active.length === 0) return 'none';
  const rest = active.length < limitSettings.length ? '; no others' : '';
  return active.map((name) => `${name}=${settings[name]}`).join(', ') + rest;
}

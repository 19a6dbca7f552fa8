/** The banner tells the settings that are in force, never others. */
import { expect, test } from '@jest/globals';
import { type ActiveSettings, formatBanner } from './banner.ts';

const unlimited: ActiveSettings = {
  DEFAULT_PLAN: 'scale',
  WEBHOOK_ALLOW_INSECURE_TARGETS: true,
  WEBHOOK_ALLOWED_CIDRS: [],
  RATE_LIMIT_PER_MINUTE: 0,
  REGISTRATIONS_PER_HOUR: 0,
  LOGINS_PER_MINUTE: 0,
  LOGIN_FAILURES_PER_15_MINUTES: 0,
  EMBED_NOT_FOUND_RATE_LIMIT_PER_MINUTE: 0,
};

function bannerWith(settings: Partial<ActiveSettings>): string {
  const rest = { base: 'b', link: 'l', apiKey: 'k', management: 'm', database: 'd', dataDir: 'f' };
  return formatBanner({ ...rest, settings: { ...unlimited, ...settings } });
}

test('the loose defaults are told with their settings', () => {
  const text = bannerWith({});
  expect(text).toContain('the Scale plan (DEFAULT_PLAN=scale)');
  expect(text).toContain('may go to this machine, also by http (WEBHOOK_ALLOW_INSECURE_TARGETS=true)');
  expect(text).toContain('Rate limits: none.');
});

test.each(['trial', 'team'] as const)('with DEFAULT_PLAN=%s it does not claim Scale', (plan) => {
  const text = bannerWith({ DEFAULT_PLAN: plan });
  expect(text).not.toContain('Scale');
  expect(text).toContain(`which has no webhooks (DEFAULT_PLAN=${plan})`);
});

test('webhooks that may not go to this machine are told as such', () => {
  const text = bannerWith({ WEBHOOK_ALLOW_INSECURE_TARGETS: false, WEBHOOK_ALLOWED_CIDRS: ['10.0.0.0/8'] });
  expect(text).not.toContain('may go to this machine');
  expect(text).toContain('and to the networks of WEBHOOK_ALLOWED_CIDRS, not to this machine');
});

test('rate limits in force are named with their numbers', () => {
  expect(bannerWith({ LOGINS_PER_MINUTE: 10 })).toContain('Rate limits: LOGINS_PER_MINUTE=10; no others.');
});

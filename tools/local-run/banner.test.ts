/** The banner shows the active settings. */
import { expect, test } from '@jest/globals';
import { type ActiveSettings, formatBanner } from './banner.ts';

const unlimited: ActiveSettings = {
  REGISTRATION: 'open',
  DEFAULT_PLAN: 'scale',
  WEBHOOK_ALLOW_INSECURE_TARGETS: true,
  WEBHOOK_ALLOWED_CIDRS: [],
  RATE_LIMIT_PER_MINUTE: 0,
  REGISTRATIONS_PER_HOUR: 0,
  LOGINS_PER_MINUTE: 0,
  LOGIN_FAILURES_PER_15_MINUTES: 0,
  EMBED_NOT_FOUND_RATE_LIMIT_PER_MINUTE: 0,
};

function bannerWith(settings: Partial<ActiveSettings>, { inContainer = false } = {}): string {
  const demo = { apiKey: 'k', link: 'l' };
  const rest = { base: 'b', demo, management: 'm', database: 'd', dataDir: 'f', inContainer };
  return formatBanner({ ...rest, settings: { ...unlimited, ...settings } });
}

test('the banner shows the permissive defaults and their settings', () => {
  const text = bannerWith({});
  expect(text).toContain('the Scale plan (DEFAULT_PLAN=scale)');
  expect(text).toContain('may be sent to this machine, also over http (WEBHOOK_ALLOW_INSECURE_TARGETS=true)');
  expect(text).toContain('Rate limits: none.');
});

test.each(['trial', 'team'] as const)('the banner with DEFAULT_PLAN=%s does not mention Scale', (plan) => {
  const text = bannerWith({ DEFAULT_PLAN: plan });
  expect(text).not.toContain('Scale');
  expect(text).toContain(`which has no webhooks (DEFAULT_PLAN=${plan})`);
});

test('the banner shows that webhooks cannot be sent to this machine', () => {
  const text = bannerWith({ WEBHOOK_ALLOW_INSECURE_TARGETS: false, WEBHOOK_ALLOWED_CIDRS: ['10.0.0.0/8'] });
  expect(text).not.toContain('may be sent to this machine');
  expect(text).toContain('and to the networks of WEBHOOK_ALLOWED_CIDRS, not to this machine');
});

test('the banner names active rate limits with their values', () => {
  expect(bannerWith({ LOGINS_PER_MINUTE: 10 })).toContain('Rate limits: LOGINS_PER_MINUTE=10; no others.');
});

test('the banner of a container does not say that only this machine connects', () => {
  expect(bannerWith({})).toContain('it accepts connections from this machine only');
  const text = bannerWith({}, { inContainer: true });
  expect(text).toContain('everyone who reaches the published port may register');
  expect(text).not.toContain('this machine');
});

/** Tests which settings of webhook delivery are accepted. */
import { expect, test } from '@jest/globals';
import { webhookSettings } from './settings.ts';

const getErrors = (options: Record<string, string>) =>
  webhookSettings
    .safeParse(options)
    .error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);

test('webhook settings default to strict targets and two retries', () => {
  expect(webhookSettings.parse({})).toMatchObject({
    WEBHOOK_ALLOW_INSECURE_TARGETS: false,
    WEBHOOK_ALLOWED_CIDRS: [],
    WEBHOOK_CIRCUIT_BREAKER_SECONDS: [30, 600],
    WEBHOOK_RETRY_SCHEDULE_SECONDS: [30, 1800],
    WEBHOOK_TIMEOUT_SECONDS: 10,
  });
});

test('webhook settings parse comma-separated lists', () => {
  const environment = {
    WEBHOOK_ALLOWED_CIDRS: '10.0.0.0/8, fd00::/8',
    WEBHOOK_RETRY_SCHEDULE_SECONDS: '0.1,5',
  };
  expect(webhookSettings.parse(environment)).toMatchObject({
    WEBHOOK_ALLOWED_CIDRS: [{ bits: 8 }, { bits: 8 }],
    WEBHOOK_RETRY_SCHEDULE_SECONDS: [0.1, 5],
  });
});

test('invalid webhook settings are reported with their name', () => {
  expect(getErrors({ WEBHOOK_ALLOWED_CIDRS: '10.0.0.0/8,intranet' })).toEqual([
    'WEBHOOK_ALLOWED_CIDRS: intranet is not a CIDR range such as 10.20.0.0/16',
  ]);
  const proxy = { WEBHOOK_PROXY_URL: 'socks5://who:hush@proxy' };
  expect(getErrors(proxy)).toEqual([
    'WEBHOOK_PROXY_URL: must be a URL such as http://user:password@host:3128',
  ]);
  expect(getErrors({ WEBHOOK_RETRY_SCHEDULE_SECONDS: '1,2,3' })).toHaveLength(1);
  expect(getErrors({ WEBHOOK_CIRCUIT_BREAKER_SECONDS: '30' })).toEqual([
    'WEBHOOK_CIRCUIT_BREAKER_SECONDS: must be two durations: the first pause and the longest pause',
  ]);
  expect(getErrors({ WEBHOOK_CIRCUIT_BREAKER_SECONDS: '0,10' })).toHaveLength(1);
  expect(getErrors({ WEBHOOK_RETRY_SCHEDULE_SECONDS: 'soon' })).toHaveLength(1);
  expect(getErrors({ WEBHOOK_ALLOW_INSECURE_TARGETS: 'perhaps' })).toHaveLength(1);
});

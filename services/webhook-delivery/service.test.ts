/** Tests what the service logs when it starts. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { pino } from 'pino';
import { Secret } from '#libs/contract';
import type { Meters } from '#libs/service';
import type { Store } from '#libs/store';
import { webhookDelivery } from './service.ts';
import { webhookSettings } from './settings.ts';
import { openTestStore } from './testing/store-fixture.ts';
import { untraced } from './testing/untraced.ts';

let fixture: { store: Store; stop(): Promise<void> };
beforeAll(async () => {
  fixture = await openTestStore();
});
afterAll(() => fixture?.stop());

const meters: Meters = {
  counter: () => () => undefined,
  histogram: () => () => undefined,
  gauge: () => undefined,
};

function startAndGetLog(allowInsecure: string): string {
  const lines: string[] = [];
  const log = pino({}, { write: (line) => lines.push(line) });
  const settings = webhookSettings.parse({ WEBHOOK_ALLOW_INSECURE_TARGETS: allowInsecure });
  webhookDelivery.start({
    store: fixture.store,
    mongodb: new Secret('mongodb://127.0.0.1:1/none'),
    settings,
    log,
    meters,
    tracing: untraced,
    deriveKeyring: () => {
      throw new Error('No keys');
    },
    now: () => new Date(),
    health: async () => ({ status: 'ok', services: [] }),
  });
  return lines.join('');
}

test('the service warns at start only if insecure targets are allowed', () => {
  expect(startAndGetLog('true')).toMatch(/"level":40.*WEBHOOK_ALLOW_INSECURE_TARGETS is on/);
  expect(startAndGetLog('false')).toBe('');
});

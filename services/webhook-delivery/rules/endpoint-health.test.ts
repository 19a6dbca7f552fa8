/** Tests when a failing webhook is disabled and when its creator is notified. */
import { describe, expect, test } from '@jest/globals';
import { disableAfterMs, notifyIntervalMs, shouldDisable, shouldNotify } from './endpoint-health.ts';

const at = new Date('2026-11-21T09:30:00Z');
const ago = (ms: number) => new Date(at.getTime() - ms);

describe('disabling by health', () => {
  test.each([
    [
      'is disabled after five days of failures',
      { delivered: undefined, firstFailed: ago(disableAfterMs) },
      true,
    ],
    [
      'stays active just before five days',
      { delivered: undefined, firstFailed: ago(disableAfterMs - 1) },
      false,
    ],
    ['stays active without a failure', { delivered: undefined, firstFailed: undefined }, false],
    [
      'stays active within five days of a success',
      { delivered: ago(disableAfterMs - 1), firstFailed: ago(disableAfterMs) },
      false,
    ],
    [
      'is disabled five days after the last success',
      { delivered: ago(disableAfterMs), firstFailed: ago(disableAfterMs) },
      true,
    ],
  ])('a webhook %s', (_, health, expected) => {
    expect(shouldDisable(health, at)).toBe(expected);
  });
});

test('failures are notified at once and then at most once a minute', () => {
  expect(shouldNotify({}, at)).toBe(true);
  expect(shouldNotify({ notified_at: ago(notifyIntervalMs - 1) }, at)).toBe(false);
  expect(shouldNotify({ notified_at: ago(notifyIntervalMs) }, at)).toBe(true);
});

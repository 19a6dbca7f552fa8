/** When a webhook is switched off for failing, and when its creator is told. */
import { describe, expect, test } from '@jest/globals';
import { isHopeless, mayTell, patienceMs, quietMs } from './failing.ts';

const at = new Date('2026-11-21T09:30:00Z');
const ago = (ms: number) => new Date(at.getTime() - ms);

describe('a webhook is switched off', () => {
  test.each([
    ['after five days of failures', { delivered: undefined, firstFailed: ago(patienceMs) }, true],
    ['not a moment earlier', { delivered: undefined, firstFailed: ago(patienceMs - 1) }, false],
    ['not without a failure', { delivered: undefined, firstFailed: undefined }, false],
    [
      'not within five days of a success',
      { delivered: ago(patienceMs - 1), firstFailed: ago(patienceMs) },
      false,
    ],
    ['long after a success', { delivered: ago(patienceMs), firstFailed: ago(patienceMs) }, true],
  ])('%s', (_, standing, expected) => {
    expect(isHopeless(standing, at)).toBe(expected);
  });
});

test('its creator is told at once, and then at most once a minute', () => {
  expect(mayTell({}, at)).toBe(true);
  expect(mayTell({ told_at: ago(quietMs - 1) }, at)).toBe(false);
  expect(mayTell({ told_at: ago(quietMs) }, at)).toBe(true);
});

/** Tests every decision of the dispatcher's loop. */
import { describe, expect, test } from '@jest/globals';
import { type LoopState, maxConcurrentClaims, nextAction } from './next-action.ts';

/** A process with free slots that knows of no due delivery. */
const idle: LoopState = {
  phase: 'running',
  freeSlots: 1,
  runningClaims: 0,
  hasRunnable: false,
  untilPollMs: 1,
  mayHaveMore: false,
};
/** A process with a reason for each action. */
const busy: LoopState = { ...idle, hasRunnable: true, untilPollMs: 0, mayHaveMore: true };

describe('the loop', () => {
  test.each(['created', 'stopping'] as const)('stops if the phase is %s', (phase) => {
    expect(nextAction({ ...busy, phase })).toBe('stop');
  });

  test('waits if there is nothing to do', () => {
    expect(nextAction(idle)).toBe('wait');
  });

  test('waits without a free slot', () => {
    expect(nextAction({ ...busy, freeSlots: 0 })).toBe('wait');
  });

  test('polls first, so that rows of other replicas are not forgotten', () => {
    expect(nextAction(busy)).toBe('poll');
    expect(nextAction({ ...busy, runningClaims: maxConcurrentClaims })).toBe('poll');
  });

  test('claims queued deliveries before it asks for more', () => {
    const polled = { ...busy, untilPollMs: 1 };
    expect(nextAction(polled)).toBe('claim');
    expect(nextAction({ ...polled, runningClaims: maxConcurrentClaims - 1 })).toBe('claim');
  });

  test('waits while the maximum number of claims is running', () => {
    expect(nextAction({ ...busy, untilPollMs: 1, runningClaims: maxConcurrentClaims })).toBe('wait');
  });

  test('refills if MongoDB may have more than the last poll returned', () => {
    expect(nextAction({ ...idle, mayHaveMore: true })).toBe('refill');
  });
});

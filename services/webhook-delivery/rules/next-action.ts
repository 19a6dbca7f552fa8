/** Decides what the loop of the dispatcher does next. */

/** What the loop knows when it decides. */
export interface LoopState {
  readonly phase: 'created' | 'running' | 'stopping';
  /** Slots that no request uses. */
  readonly freeSlots: number;
  /** Batches that are being claimed. */
  readonly runningClaims: number;
  /** Whether a queued delivery may get a slot now. */
  readonly hasRunnable: boolean;
  /** Time until the next poll, ms; 0 if it is due. */
  readonly untilPollMs: number;
  /** Whether the last answer of MongoDB was cut off at its limit. */
  readonly mayHaveMore: boolean;
}

/**
 * What the loop does next.
 *
 * - `stop`: end the loop.
 * - `wait`: until a delivery is queued, a slot is free, a claim ends or a poll is due.
 * - `poll`: find due deliveries in all shards.
 * - `claim`: start to claim the queued deliveries that get a slot.
 * - `refill`: find more due deliveries in half of the shards.
 */
export type Action = 'stop' | 'wait' | 'poll' | 'claim' | 'refill';

/** Maximum number of batches that are being claimed at the same time. */
export const maxConcurrentClaims = 4;

/** Returns the next action of the loop. */
export function nextAction(state: LoopState): Action {
  if (state.phase !== 'running') return 'stop';
  if (state.freeSlots === 0) return 'wait';
  if (state.untilPollMs === 0) return 'poll';
  if (state.runningClaims >= maxConcurrentClaims) return 'wait';
  if (state.hasRunnable) return 'claim';
  return state.mayHaveMore ? 'refill' : 'wait';
}

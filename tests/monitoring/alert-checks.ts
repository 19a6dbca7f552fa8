/** Checks that a fault fires its alerts, and that they do not fire before it. */
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from '@jest/globals';
import { until } from '#libs/testing';
import type { Prometheus } from './prometheus.ts';

/** A fault, and the work that continues during it. */
export interface FaultScenario {
  fault(): Promise<unknown>;
  /** Tasks that are repeated until all alerts fire. */
  repeated?: readonly (() => Promise<unknown>)[];
}

const timeoutMs = 300_000;
const pollMs = 250;

/**
 * Waits until none of the alerts fires, causes the fault and waits until each alert has fired. Rejects with the names
 * of alerts that still fire after five minutes without the fault, or that do not fire within five minutes of it.
 */
export async function expectAlerts(
  { firing }: Pick<Prometheus, 'firing'>,
  names: readonly string[],
  { fault, repeated = [] }: FaultScenario,
): Promise<void> {
  let firingNow = new Map<string, string>();
  const waitFor = async (message: () => string, isDone: () => boolean) => {
    const check = async () => {
      firingNow = await firing();
      // Prometheus writes one of these texts into a summary that it cannot render
      for (const summary of firingNow.values()) expect(summary).not.toMatch(/error expanding|no value/);
      await pause(pollMs);
      return isDone();
    };
    await until('the alerts', check, timeoutMs).catch((error: Error) => {
      throw new Error(`${message()}; firing now: ${[...firingNow.keys()].join(', ')}. ${error.message}`);
    });
  };

  const notYetFired = new Set(names);
  const alreadyFiring = () => names.filter((name) => firingNow.has(name));
  await waitFor(
    () => `Still firing before the fault: ${alreadyFiring().join(', ')}`,
    () => alreadyFiring().length === 0,
  );
  let isWaitOver = false;
  const alertsFiring = waitFor(
    () => `Never fired: ${[...notYetFired].join(', ')}`,
    () => {
      for (const name of firingNow.keys()) notYetFired.delete(name);
      return notYetFired.size === 0;
    },
  ).finally(() => {
    isWaitOver = true;
  });
  const repeat = async (task: () => Promise<unknown>) => {
    while (!isWaitOver) {
      await task();
      await pause(pollMs);
    }
  };
  const work = [fault(), ...repeated.map(repeat)];
  // wait until every task has ended before an error is thrown
  await Promise.allSettled([alertsFiring, ...work]);
  await Promise.all([...work, alertsFiring]);
}

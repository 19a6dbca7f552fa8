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

const timeoutMs = 75_000;
const pollMs = 250;

/**
 * Waits until none of the alerts fires, causes the fault and waits until each alert has fired. Rejects with the names
 * of alerts that fire too early or not within 75 s.
 */
export async function expectAlerts(
  { firing }: Pick<Prometheus, 'firing'>,
  names: readonly string[],
  { fault, repeated = [] }: FaultScenario,
): Promise<void> {
  let now = new Map<string, string>();
  const waitFor = async (message: () => string, isDone: () => boolean) => {
    const check = async () => {
      now = await firing();
      // Prometheus writes this into a summary that it cannot render
      for (const summary of now.values()) expect(summary).not.toMatch(/error expanding|no value/);
      await pause(pollMs);
      return isDone();
    };
    await until('the alerts', check, timeoutMs).catch((error: Error) => {
      throw new Error(`${message()}; firing now: ${[...now.keys()].join(', ')}. ${error.message}`);
    });
  };

  const pending = new Set(names);
  const early = () => names.filter((name) => now.has(name));
  await waitFor(
    () => `Fired before the fault: ${early().join(', ')}`,
    () => early().length === 0,
  );
  let isOver = false;
  const alertsFiring = waitFor(
    () => `Never fired: ${[...pending].join(', ')}`,
    () => {
      for (const name of now.keys()) pending.delete(name);
      return pending.size === 0;
    },
  ).finally(() => {
    isOver = true;
  });
  const repeat = async (task: () => Promise<unknown>) => {
    while (!isOver) {
      await task();
      await pause(pollMs);
    }
  };
  const work = [fault(), ...repeated.map(repeat)];
  // wait for every task, also after an error
  await Promise.allSettled([alertsFiring, ...work]);
  await Promise.all([...work, alertsFiring]);
}

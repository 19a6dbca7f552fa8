/** Whether what breaks is told: not before, and then by the alerts that are there for it. */
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from '@jest/globals';
import { until } from '#libs/testing';
import type { Prometheus } from './prometheus.ts';

/** How something breaks. */
export interface FaultScenario {
  fault(): Promise<unknown>;
  /** What goes on until all is told: each is done once more when it has ended. */
  repeated?: readonly (() => Promise<unknown>)[];
}

const timeoutMs = 75_000;
const pollMs = 250;

/** Breaks something when none of these alerts is told; resolves when each of them was, else rejects with those that were not. */
export async function expectAlerts(
  { firing }: Pick<Prometheus, 'firing'>,
  names: readonly string[],
  { fault, repeated = [] }: FaultScenario,
): Promise<void> {
  let now = new Map<string, string>();
  const waitFor = async (message: () => string, isDone: () => boolean) => {
    const check = async () => {
      now = await firing();
      // how Prometheus writes a summary that it could not fill in
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
  // nobody is left at work
  await Promise.allSettled([alertsFiring, ...work]);
  await Promise.all([...work, alertsFiring]);
}

/** Whether what breaks is told: not before, and then by the alerts that are there for it. */
import { setTimeout as pause } from 'node:timers/promises';
import { expect } from '@jest/globals';
import { until } from '#libs/testing';
import type { Prometheus } from './prometheus.ts';

/** How something breaks. */
export interface Breaking {
  fault(): Promise<unknown>;
  /** What goes on until all is told: each is done once more when it has ended. */
  again?: readonly (() => Promise<unknown>)[];
}

const withinMs = 75_000;
const betweenMs = 250;

/** Breaks something when none of these alerts is told; resolves when each of them was, else rejects with those that were not. */
export async function toldBy(
  { firing }: Pick<Prometheus, 'firing'>,
  names: readonly string[],
  { fault, again = [] }: Breaking,
): Promise<void> {
  let now = new Map<string, string>();
  const waited = async (what: () => string, ask: () => boolean) => {
    const asked = async () => {
      now = await firing();
      // how Prometheus writes a summary that it could not fill in
      for (const summary of now.values()) expect(summary).not.toMatch(/error expanding|no value/);
      await pause(betweenMs);
      return ask();
    };
    await until('alerts', asked, withinMs).catch((error: Error) => {
      throw new Error(`${what()}; now are ${[...now.keys()].join(', ')}. ${error.message}`);
    });
  };

  const open = new Set(names);
  const early = () => names.filter((name) => now.has(name));
  await waited(
    () => `Told before anything was broken: ${early().join(', ')}`,
    () => early().length === 0,
  );
  let isOver = false;
  const telling = waited(
    () => `Never told: ${[...open].join(', ')}`,
    () => {
      for (const name of now.keys()) open.delete(name);
      return open.size === 0;
    },
  ).finally(() => {
    isOver = true;
  });
  const goOn = async (work: () => Promise<unknown>) => {
    while (!isOver) {
      await work();
      await pause(betweenMs);
    }
  };
  const breaking = [fault(), ...again.map(goOn)];
  // nobody is left at work
  await Promise.allSettled([telling, ...breaking]);
  await Promise.all([...breaking, telling]);
}

/** Runs the parts of the long form one after the other, and saves the figures of each as soon as it has ended. */
import type { Deployment } from '../../chaos/workload/fixture.ts';
import { runFuzz } from './fuzz-run.ts';
import { runKillRounds } from './kill-rounds.ts';
import { runMixedLoad } from './mixed-load.ts';
import { type Results, saveResults } from './results.ts';

/** What to run. */
export interface LongRun {
  /** `fuzz`, `kills` and `load`. */
  parts: readonly string[];
  requests: number;
  rounds: number;
  minutes: number;
  /** Prints the figures instead of saving them. */
  isTrial: boolean;
}

const deployments: readonly Deployment[] = ['all in one', 'five under Node', 'five under Deno'];

/** Runs the parts. Returns whether something failed or an invariant is broken. */
export async function runParts({ parts, requests, rounds, minutes, isTrial }: LongRun): Promise<boolean> {
  let isBroken = false;
  const say = (line: string) => void process.stdout.write(`${line}\n`);
  const finish = (figures: { violations: string[] }, save: (saved: Results) => Results) => {
    isBroken ||= figures.violations.length > 0;
    say(JSON.stringify(figures, null, 2));
    if (!isTrial) saveResults(save);
  };
  if (parts.includes('fuzz')) {
    const fuzz = await runFuzz(requests, say);
    isBroken ||= fuzz.serverErrors + fuzz.mismatches > 0;
    finish(fuzz, (saved) => ({ ...saved, fuzz }));
  }
  if (parts.includes('kills'))
    for (const way of deployments) {
      const figures = await runKillRounds(way, rounds, say);
      finish(figures, (saved) => ({ ...saved, kills: { ...saved.kills, [way]: figures } }));
    }
  if (parts.includes('load')) {
    const load = await runMixedLoad(minutes, say);
    finish(load, (saved) => ({ ...saved, load }));
  }
  return isBroken;
}

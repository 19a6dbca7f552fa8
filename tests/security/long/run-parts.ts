/** Runs the parts of the long form one after the other, and saves the figures of each as soon as it has ended. */
import type { Deployment } from '../../chaos/workload/fixture.ts';
import { runFuzz } from './fuzz-run.ts';
import { runKillRounds } from './kill-rounds.ts';
import { runMixedLoad } from './mixed-load.ts';
import { type Results, readResults, saveResults } from './results.ts';

/** The deployments that are killed, by their names in the option `--parts`. */
const killed: Readonly<Record<string, Deployment>> = {
  'kills-one': 'all in one',
  'kills-node': 'five under Node',
  'kills-deno': 'five under Deno',
};

/** The deployments under mixed load, by their names in the option `--parts`. */
const loaded: Readonly<Record<string, Deployment>> = {
  'load-one': 'all in one',
  'load-node': 'five under Node',
};

/** The names of all parts. `kills` and `load` stand for all their deployments. */
export const partNames = ['fuzz', 'kills', ...Object.keys(killed), 'load', ...Object.keys(loaded)];

/** What to run. */
export interface LongRun {
  /** Some of `partNames`. */
  parts: readonly string[];
  requests: number;
  rounds: number;
  minutes: number;
  /** Prints the figures instead of saving them. */
  isTrial: boolean;
}

/** Runs the parts. Returns whether something failed or an invariant is broken. */
export async function runParts({ parts, requests, rounds, minutes, isTrial }: LongRun): Promise<boolean> {
  let isBroken = false;
  const say = (line: string) => void process.stdout.write(`${line}\n`);
  const finish = (figures: { violations: string[] }, save: (saved: Results) => void) => {
    isBroken ||= figures.violations.length > 0;
    say(JSON.stringify(figures, null, 2));
    if (!isTrial) saveResults(save);
  };
  if (parts.includes('fuzz')) {
    // other requests than those of the saved runs
    const firstSeed = 1 + 100 * readResults().fuzz.length;
    const fuzz = await runFuzz(requests, firstSeed, say);
    isBroken ||= fuzz.serverErrors + fuzz.mismatches > 0;
    finish(fuzz, (saved) => saved.fuzz.push(fuzz));
  }
  for (const [name, way] of Object.entries(killed))
    if (parts.includes('kills') || parts.includes(name)) {
      const figures = await runKillRounds(way, rounds, say);
      finish(figures, ({ kills }) => {
        kills[way] = [...(kills[way] ?? []), figures];
      });
    }
  for (const [name, way] of Object.entries(loaded))
    if (parts.includes('load') || parts.includes(name)) {
      const load = await runMixedLoad(way, minutes, say);
      finish(load, (saved) => saved.load.push(load));
    }
  return isBroken;
}

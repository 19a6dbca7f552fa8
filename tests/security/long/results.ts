/** The figures of the long security and reliability runs, as they are saved. docs/reliability.md shows them. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { z } from 'zod';

const run = {
  /** When the run ended, and of which commit. */
  date: z.string(),
  commit: z.string(),
  machine: z.object({ cores: z.number(), memoryGb: z.number() }),
  minutes: z.number(),
  /** Lines of broken invariants at the end. */
  violations: z.array(z.string()),
};

const fuzz = z.object({
  ...run,
  requests: z.number(),
  serverErrors: z.number(),
  mismatches: z.number(),
});
export type FuzzFigures = z.infer<typeof fuzz>;

const kills = z.object({
  ...run,
  /** How often each process was killed, by its name. */
  kills: z.record(z.string(), z.number()),
  documents: z.number(),
  changes: z.number(),
  retries: z.number(),
  slowestRestartMs: z.number(),
});
export type KillFigures = z.infer<typeof kills>;

const sample = z.object({ memoryMb: z.number(), descriptors: z.number() });
const load = z.object({
  ...run,
  documents: z.number(),
  requestsFailed: z.number(),
  /** Medians of each process: of the first and of the last third of the samples after the warm-up. */
  processes: z.record(z.string(), z.object({ first: sample, last: sample })),
  /** The highest number of messages, unpublished events and pending deliveries in each third. */
  backlog: z.object({ first: z.number(), last: z.number() }),
});
export type LoadFigures = z.infer<typeof load>;

const results = z.object({
  fuzz: fuzz.optional(),
  kills: z.record(z.string(), kills).optional(),
  load: load.optional(),
});
export type Results = z.infer<typeof results>;

const file = new URL('./results.json', import.meta.url);

/** Reads the saved figures. Without a file, nothing has been measured. */
export function readResults(): Results {
  return existsSync(file) ? results.parse(JSON.parse(readFileSync(file, 'utf8'))) : {};
}

/** Saves figures next to those of other runs. */
export function saveResults(change: (saved: Results) => Results): void {
  const changed = results.parse(change(readResults()));
  writeFileSync(file, `${JSON.stringify(changed, null, 2)}\n`);
}

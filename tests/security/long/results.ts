/** The figures of the long security and reliability runs, as they are saved. docs/reliability.md shows them. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { z } from 'zod';

const run = {
  /** When the run ended, and of which commit. */
  date: z.string(),
  commit: z.string(),
  machine: z.object({ cores: z.number(), memoryGb: z.number() }),
  /** The average of the last 15 minutes of the run. It includes the other programs on the machine. */
  loadAverage: z.number(),
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
  rounds: z.number(),
  /** How often each process was killed, by its name. */
  kills: z.record(z.string(), z.number()),
  documents: z.number(),
  changes: z.number(),
  retries: z.number(),
  slowestRestartMs: z.number(),
});
export type KillFigures = z.infer<typeof kills>;

const sample = z.object({
  memoryMb: z.number(),
  /** Open file descriptors. They are not counted in workers. */
  descriptors: z.number().optional(),
});
export type Sample = z.infer<typeof sample>;

const load = z.object({
  ...run,
  /** Older runs have no reader, and the memory of a process includes that of its workers. */
  deployment: z.enum(['all in one', 'five under Node', 'five under Deno']).default('five under Node'),
  documents: z.number(),
  /** Requests of the reader: lists, searches, documents and Word files. */
  reads: z.number().optional(),
  requestsFailed: z.number(),
  /**
   * Medians of each process: of the first and of the last third of the samples after the warm-up. `rest`: 90 s after
   * the load.
   */
  processes: z.record(z.string(), z.object({ first: sample, last: sample, rest: sample.optional() })),
  /** The highest number of messages, unpublished events and pending deliveries in each third. */
  backlog: z.object({ first: z.number(), last: z.number() }),
});
export type LoadFigures = z.infer<typeof load>;

/** The runs of each part. The runs of a part add up: a long run can be made in several shorter ones. */
const results = z.object({
  fuzz: z.array(fuzz).default([]),
  /** By deployment. */
  kills: z.record(z.string(), z.array(kills)).default({}),
  load: z.array(load).default([]),
});
export type Results = z.infer<typeof results>;

const file = new URL('./results.json', import.meta.url);

/** Reads the saved figures. Without a file, nothing has been measured. */
export function readResults(): Results {
  return results.parse(existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : {});
}

/** Saves the figures of another run. */
export function saveResults(add: (saved: Results) => void): void {
  const saved = readResults();
  add(saved);
  writeFileSync(file, `${JSON.stringify(saved, null, 2)}\n`);
}

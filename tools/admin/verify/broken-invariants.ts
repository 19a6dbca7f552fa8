/** Checks invariants one after the other, with memory that does not depend on the size of the database. */
import type mongoose from 'mongoose';
import type { Invariant } from './invariant.ts';
import { createScan, type ScanOptions } from './scan.ts';

/** A broken invariant. */
export interface BrokenInvariant {
  invariant: Invariant;
  /** How many rows break it. */
  count: number;
  /** The ids of some of them. */
  examples: readonly string[];
}

const maxExamples = 5;

/** Checks invariants and returns each one that is broken. */
export async function* findBrokenInvariants(
  db: mongoose.mongo.Db,
  invariants: readonly Invariant[],
  options: ScanOptions,
): AsyncGenerator<BrokenInvariant> {
  const scan = createScan(db, options);
  for (const invariant of invariants) {
    const examples: string[] = [];
    let count = 0;
    for await (const id of invariant.find(scan)) {
      count += 1;
      if (examples.length < maxExamples) examples.push(id);
    }
    if (count > 0) yield { invariant, count, examples };
  }
}

/** A broken invariant in one line. */
export function formatBrokenInvariant({
  invariant: { name, description },
  count,
  examples,
}: BrokenInvariant): string {
  const more = count > examples.length ? ', …' : '';
  return `${name}: ${count} broken (${examples.join(', ')}${more}). ${description}`;
}

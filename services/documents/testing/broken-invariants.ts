/** Finds the broken invariants about documents at the end of a test whose clock is ahead. */
import { until } from '#libs/testing';
import { findBrokenInvariants } from '../../../tools/admin/verify/broken-invariants.ts';
import { invariants } from '../../../tools/admin/verify/invariants.ts';
import type { ClockedContext } from './update-events.ts';

/** Returns the names of the broken invariants. */
export async function findBroken(context: ClockedContext): Promise<string[]> {
  // the index worker writes words a second after a change, and the clock may have advanced by hours meanwhile
  const unindexed = { reindex_at: { $gt: new Date(0) } };
  const rows = context.app.db.collection('documents');
  await until('all words are indexed', async () => (await rows.countDocuments(unindexed)) === 0);
  const chosen = invariants.filter(({ name }) => /^documents\./.test(name));
  if (chosen.length <= 10) throw new Error('The invariants about documents have other names');
  const broken: string[] = [];
  const limits = { now: context.now(), graceMs: 3_600_000 };
  for await (const { invariant } of findBrokenInvariants(context.app.db, chosen, limits))
    broken.push(invariant.name);
  return broken;
}

/** What MongoDB did for some work, as its profiler tells it: which plans, how many keys and rows it looked at. */
import type mongoose from 'mongoose';

/** One operation of MongoDB. */
export interface ProfiledCommand {
  /** Collection or view. */
  collection: string;
  op: string;
  /** The command as it was sent. */
  command: Record<string, unknown>;
  /** E.g. `IXSCAN { organization_id: 1 }`; several are parted by commas. */
  plan: string;
  keysExamined: number;
  docsExamined: number;
  returned: number;
  /** Whether rows were sorted instead of read in order. */
  sorts: boolean;
}

/** Does the work, and gives what MongoDB did meanwhile in this database, also for others. */
export async function profileCommands(
  db: mongoose.mongo.Db,
  work: () => Promise<unknown>,
): Promise<ProfiledCommand[]> {
  await db.command({ profile: 0 });
  await db.dropCollection('system.profile').catch(() => undefined);
  await db.createCollection('system.profile', { capped: true, size: 64 * 1024 * 1024 });
  await db.command({ profile: 2 });
  try {
    await work();
  } finally {
    await db.command({ profile: 0 });
  }
  const rows = await db.collection('system.profile').find().sort({ $natural: 1 }).toArray();
  return rows
    .filter(({ ns }) => !String(ns).endsWith('.system.profile'))
    .map((row) => ({
      collection: String(row.ns).split('.').slice(1).join('.'),
      op: String(row.op),
      command: row.command ?? {},
      plan: String(row.planSummary ?? ''),
      keysExamined: Number(row.keysExamined ?? 0),
      docsExamined: Number(row.docsExamined ?? 0),
      returned: Number(row.nreturned ?? 0),
      sorts: row.hasSortStage === true,
    }));
}

/**
 * Reads MongoDB's profiler: the commands that some work caused, with their plans and examined keys and rows.
 */
import type mongoose from 'mongoose';

/** A command from MongoDB's profiler. */
export interface ProfiledCommand {
  /** The collection or view. */
  collection: string;
  op: string;
  /** The name that the client gave itself; services use their own. */
  client: string;
  /** The command as the client sent it. */
  command: Record<string, unknown>;
  /** Names the transaction, or the retryable write; undefined without one. */
  transaction: string | undefined;
  /** Whether it failed because of a concurrent write, so that its transaction is aborted. */
  isConflict: boolean;
  /** The plan summary, e.g. `IXSCAN { organization_id: 1 }`; several plans are separated by commas. */
  plan: string;
  keysExamined: number;
  docsExamined: number;
  returned: number;
  /** The rows that it inserted, changed or deleted. */
  written: number;
  /** Whether MongoDB sorted rows in memory instead of reading them in index order. */
  sorts: boolean;
}

/** MongoDB's code of a write conflict. */
const writeConflict = 112;

/** Runs work and returns all commands on this database meanwhile, including those of other clients. */
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
      client: String(row.appName ?? ''),
      command: row.command ?? {},
      transaction: toTransaction(row.command ?? {}),
      isConflict: row.errCode === writeConflict,
      plan: String(row.planSummary ?? ''),
      keysExamined: Number(row.keysExamined ?? 0),
      docsExamined: Number(row.docsExamined ?? 0),
      returned: Number(row.nreturned ?? 0),
      written: [row.ninserted, row.nModified, row.nUpserted, row.ndeleted].reduce(
        (sum, count) => sum + Number(count ?? 0),
        0,
      ),
      sorts: row.hasSortStage === true,
    }));
}

function toTransaction({ lsid, txnNumber }: Record<string, unknown>): string | undefined {
  return txnNumber === undefined ? undefined : JSON.stringify([lsid, txnNumber]);
}

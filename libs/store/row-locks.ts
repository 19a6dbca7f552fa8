/** Row locks: transactions that lock the same key run one after the other, in all processes. */
import type mongoose from 'mongoose';
import { z } from 'zod';
import { collection } from './collection.ts';
import type { Transaction } from './transaction.ts';

const row = z.object({
  /** What is locked. */
  _id: z.string(),
  /** How often it was locked. The increment is the write with which another transaction conflicts. */
  taken: z.number(),
});

/** Declares the row locks of a service. */
export function lockCollection(service: string) {
  return collection(`${service.replaceAll('-', '_')}_locks`, { row });
}

/** Locks a key until the transaction ends, by a write that conflicts with other transactions. */
export async function lockRow(
  rows: mongoose.Model<z.infer<typeof row>>,
  key: string,
  { session }: Transaction,
): Promise<void> {
  await rows.updateOne({ _id: key }, { $inc: { taken: 1 } }, { upsert: true, session });
}

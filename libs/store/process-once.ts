/** Handles consumed events once: the effect of an event and its id in the inbox are committed together. */
import type mongoose from 'mongoose';
import type { Envelope } from '#libs/contract';
import { isDuplicate } from './error-codes.ts';
import type { InboxRow } from './inbox.ts';
import type { Actor, Transaction } from './transaction.ts';

/** What `createProcessOnce` needs. */
export interface ProcessOnceDeps {
  inbox: mongoose.mongo.Collection<InboxRow>;
  transact<R>(actor: Actor, work: (tx: Transaction) => Promise<R>): Promise<R>;
  now: () => Date;
}

/** Creates the function that handles an event once. */
export function createProcessOnce({ inbox, transact, now }: ProcessOnceDeps) {
  return async (event: Envelope, work: (tx: Transaction) => Promise<void>): Promise<boolean> => {
    const { id, organization_id, actor_id } = event;
    try {
      await transact({ organization_id, user_id: actor_id }, async (tx) => {
        await inbox.insertOne({ _id: id, handled_at: now() }, { session: tx.session });
        await work(tx);
      });
      return true;
    } catch (error) {
      if (!isDuplicate(error) || !(await inbox.findOne({ _id: id }))) throw error;
      return false;
    }
  };
}

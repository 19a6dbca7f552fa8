/** Transactions: a change and its events are committed together or not at all. */
import { setTimeout as pause } from 'node:timers/promises';
import type mongoose from 'mongoose';
import type { Envelope, EventType } from '#libs/contract';
import { isAborted, isCommitUnknown, isUnavailable, markCommitUnknown } from './error-codes.ts';
import type { IdempotentRequest } from './idempotency.ts';

/**
 * The actor of a change: a user or the system, in an organization, with the current transaction if one is
 * open.
 */
export interface Actor {
  readonly organization_id: string;
  /** The user, or null for the system itself. */
  readonly user_id: string | null;
  /** Id of the API key; null or absent without one. */
  readonly key_id?: string | null;
  /** The id of the current request, if there is one. */
  readonly request_id?: string;
  readonly tx?: Transaction;
  /** The current request, if it has an Idempotency-Key. */
  readonly idempotency?: IdempotentRequest | undefined;
}

/** What the publisher adds to the envelope of an event. */
export type PublishOptions = Pick<Envelope, 'organization_version'>;

/** An open transaction. */
export interface Transaction {
  readonly session: mongoose.ClientSession;
  /**
   * Publishes an event if and only if the transaction commits. Throws if the contract of the service does not
   * list the event, or if `data` does not match the event's schema. The options become fields of the envelope.
   */
  publish<Data>(type: EventType<Data>, data: Data, options?: PublishOptions): void;
  /** The events published in this transaction so far. */
  readonly pendingEvents: Envelope[];
}

/** Returns the options of a command that joins a transaction, if there is one. */
export function toSessionOptions(tx: Transaction | undefined): { session?: Transaction['session'] } {
  return tx ? { session: tx.session } : {};
}

/** How long a transaction is retried, ms. */
export const retryForMs = 8_000;

/**
 * Runs `work` in a transaction and commits it. All its reads see the same state, with all changes that a read
 * before it has seen. Retries if MongoDB reports a transient error (a conflict, a
 * new primary). After eight seconds it rejects with the last error: the driver's `withTransaction` would
 * retry for two minutes, even while MongoDB is down.
 */
export async function inTransaction<R>(
  client: mongoose.mongo.MongoClient,
  work: (session: mongoose.ClientSession) => Promise<R>,
): Promise<R> {
  const limit = performance.now() + retryForMs;
  for (let tries = 0; ; tries += 1) {
    const session = client.startSession();
    try {
      // 'snapshot' would read a state that is older than other reads while a concurrent insert is being committed
      session.startTransaction({ readConcern: { level: 'majority' }, writeConcern: { w: 'majority' } });
      const result = await work(session);
      await commit(session, limit);
      return result;
    } catch (error) {
      if (!isAborted(error) || performance.now() > limit) throw error;
    } finally {
      // aborts the transaction if it was not committed
      await session.endSession();
    }
    await pause(Math.random() * Math.min(500, 5 * 1.5 ** tries));
  }
}

/**
 * Commits. Repeats a commit without an answer until `limit`, and then rejects with an error for which `isCommitUnknown`
 * is true.
 */
async function commit(session: mongoose.ClientSession, limit: number): Promise<void> {
  for (let isUnknown = false; ; ) {
    try {
      return await session.commitTransaction();
    } catch (error) {
      if (isAborted(error)) throw error;
      const isWithoutAnswer = isCommitUnknown(error) || isUnavailable(error);
      isUnknown ||= isWithoutAnswer;
      if (!isWithoutAnswer || performance.now() > limit) {
        if (isUnknown) markCommitUnknown(error);
        throw error;
      }
    }
    // some errors come at once, such as that of a closed connection
    await pause(50);
  }
}

/** Transactions: a change and the events it says are committed together or not at all. */
import { setTimeout as pause } from 'node:timers/promises';
import mongoose from 'mongoose';
import type { Envelope, EventType } from '#libs/contract';
import type { IdempotentRequest } from './idempotency.ts';

/** Who acts, in which organization, and in which transaction if one is open already. */
export interface Actor {
  readonly organization_id: string;
  /** The user, or null for the system itself. */
  readonly user_id: string | null;
  readonly tx?: Transaction;
  /** The request that is being handled, if it has an Idempotency-Key. */
  readonly idempotency?: IdempotentRequest | undefined;
}

/** An open transaction. */
export interface Transaction {
  readonly session: mongoose.ClientSession;
  /** Says an event: it exists if and only if the transaction commits. Data that does not fit its schema throws. */
  publish<Data>(type: EventType<Data>, data: Data): void;
  /** What was said so far. */
  readonly pendingEvents: Envelope[];
}

/** How long a transaction is tried again when MongoDB asks for it, ms. */
const retryForMs = 8_000;

/**
 * Runs work in a transaction, again when MongoDB asks for it (a conflict, another primary), and commits it. Rejects
 * with the last error when that does not succeed within some seconds: the driver's own `withTransaction` goes on for
 * two minutes, also while there is no MongoDB.
 */
export async function inTransaction<R>(
  client: mongoose.mongo.MongoClient,
  work: (session: mongoose.ClientSession) => Promise<R>,
): Promise<R> {
  const limit = performance.now() + retryForMs;
  for (let tries = 0; ; tries += 1) {
    const session = client.startSession();
    try {
      session.startTransaction({ readConcern: { level: 'snapshot' }, writeConcern: { w: 'majority' } });
      const result = await work(session);
      await commit(session, limit);
      return result;
    } catch (error) {
      if (!hasLabel(error, 'TransientTransactionError') || performance.now() > limit) throw error;
    } finally {
      // aborts what was not committed
      await session.endSession();
    }
    await pause(Math.random() * Math.min(500, 5 * 1.5 ** tries));
  }
}

async function commit(session: mongoose.ClientSession, limit: number): Promise<void> {
  for (;;) {
    try {
      return await session.commitTransaction();
    } catch (error) {
      if (!hasLabel(error, 'UnknownTransactionCommitResult') || performance.now() > limit) throw error;
    }
  }
}

function hasLabel(error: unknown, label: string): boolean {
  return error instanceof mongoose.mongo.MongoError && error.hasErrorLabel(label);
}

/** Whether an error is MongoDB refusing a second row under a unique key. */
export function isDuplicate(error: unknown): boolean {
  return hasCode(error, 11000);
}

/** Whether an error is two transactions meeting on one row. */
export function isWriteConflict(error: unknown): boolean {
  return hasCode(error, 112);
}

function hasCode(error: unknown, code: number): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === code;
}

/** Whether a transaction was given up because others were changing the same rows (WriteConflict, LockTimeout). */
export function isContention(error: unknown): boolean {
  return hasLabel(error, 'TransientTransactionError') && (hasCode(error, 112) || hasCode(error, 24));
}

/** Whether an error says that MongoDB cannot be reached or has no primary right now. */
export function isUnavailable(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false;
  if ('name' in error && unavailable.has(String(error.name))) return true;
  // a transaction that was tried again until its time was up
  if (hasLabel(error, 'TransientTransactionError')) return true;
  if ('code' in error && noPrimary.has(Number(error.code))) return true;
  // insertMany wraps whatever happens to it in a MongoBulkWriteError
  return 'errorResponse' in error && isUnavailable(error.errorResponse);
}

const unavailable = new Set([
  'MongoServerSelectionError',
  'MongooseServerSelectionError',
  'MongoNetworkError',
  'MongoNetworkTimeoutError',
  'MongoPoolClearedError',
  'MongoPoolClosedError',
  'MongoNotConnectedError',
  'MongoWaitQueueTimeoutError',
  'MongoPoolClearedOnNetworkError',
  'PoolClearedOnNetworkError',
  'MongoTopologyClosedError',
  'MongoClientClosedError',
]);

/**
 * What a server answers that is no primary, is stepping down or is shutting down (MongoDB's error_codes.yml):
 * HostUnreachable, HostNotFound, NetworkTimeout, ShutdownInProgress, PrimarySteppedDown, SocketException,
 * NotWritablePrimary, InterruptedAtShutdown, InterruptedDueToReplStateChange, NotPrimaryNoSecondaryOk,
 * NotPrimaryOrSecondary.
 */
const noPrimary = new Set([6, 7, 89, 91, 189, 9001, 10107, 11600, 11602, 13435, 13436]);

/** Transactions: a change and its events are committed together or not at all. */
import { setTimeout as pause } from 'node:timers/promises';
import mongoose from 'mongoose';
import type { Envelope, EventType } from '#libs/contract';
import type { IdempotentRequest } from './idempotency.ts';

/**
 * The actor of a change: a user or the system, in an organization, with the current transaction if one is
 * open.
 */
export interface Actor {
  readonly organization_id: string;
  /** The user, or null for the system itself. */
  readonly user_id: string | null;
  readonly tx?: Transaction;
  /** The current request, if it has an Idempotency-Key. */
  readonly idempotency?: IdempotentRequest | undefined;
}

/** An open transaction. */
export interface Transaction {
  readonly session: mongoose.ClientSession;
  /**
   * Publishes an event if and only if the transaction commits. Throws if `data` does not match the type's
   * schema.
   */
  publish<Data>(type: EventType<Data>, data: Data): void;
  /** The events published in this transaction so far. */
  readonly pendingEvents: Envelope[];
}

/** How long a transaction is retried, ms. */
const retryForMs = 8_000;

/**
 * Runs `work` in a transaction and commits it. Retries if MongoDB reports a transient error (a conflict, a
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
      session.startTransaction({ readConcern: { level: 'snapshot' }, writeConcern: { w: 'majority' } });
      const result = await work(session);
      await commit(session, limit);
      return result;
    } catch (error) {
      if (!hasLabel(error, 'TransientTransactionError') || performance.now() > limit) throw error;
    } finally {
      // aborts the transaction if it was not committed
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

/** Whether an error is a duplicate key error. */
export function isDuplicate(error: unknown): boolean {
  return hasCode(error, 11000);
}

/** Whether an error is a write conflict: another transaction changed the same row. */
export function isWriteConflict(error: unknown): boolean {
  return hasCode(error, 112);
}

function hasCode(error: unknown, code: number): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === code;
}

/** Whether a transaction failed because others were changing the same rows (WriteConflict, LockTimeout). */
export function isContention(error: unknown): boolean {
  return hasLabel(error, 'TransientTransactionError') && (hasCode(error, 112) || hasCode(error, 24));
}

/** Whether an error means that MongoDB cannot be reached or has no primary. */
export function isUnavailable(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false;
  if ('name' in error && unavailable.has(String(error.name))) return true;
  // a transaction that was retried until its time limit
  if (hasLabel(error, 'TransientTransactionError')) return true;
  if ('code' in error && (noPrimary.has(Number(error.code)) || brokenSocket.has(String(error.code))))
    return true;
  // insertMany wraps every error in a MongoBulkWriteError
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
 * Error codes of a server that is not primary, is stepping down or is shutting down (MongoDB's
 * error_codes.yml): HostUnreachable, HostNotFound, NetworkTimeout, ShutdownInProgress, PrimarySteppedDown,
 * SocketException, NotWritablePrimary, InterruptedAtShutdown, InterruptedDueToReplStateChange,
 * NotPrimaryNoSecondaryOk, NotPrimaryOrSecondary.
 */
const noPrimary = new Set([6, 7, 89, 91, 189, 9001, 10107, 11600, 11602, 13435, 13436]);

/** Codes of sockets. The driver rejects with such an error if a connection breaks while it waits to write. */
const brokenSocket = new Set(['ECONNRESET', 'ECONNREFUSED', 'EPIPE', 'ETIMEDOUT']);

/** Transactions: a change and the events it says are committed together or not at all. */
import type mongoose from 'mongoose';
import type { Envelope, EventType } from '#libs/contract';

/** Who acts, in which organization, and in which transaction if one is open already. */
export interface Acting {
  readonly organization_id: string;
  /** The user, or null for the system itself. */
  readonly user_id: string | null;
  readonly tx?: Transaction;
}

/** An open transaction. */
export interface Transaction {
  readonly session: mongoose.ClientSession;
  /** Says an event: it exists if and only if the transaction commits. Data that does not fit its schema throws. */
  say<Data>(type: EventType<Data>, data: Data): void;
  /** What was said so far. */
  readonly said: Envelope[];
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

/** Whether an error says that MongoDB cannot be reached or has no primary right now. */
export function isUnavailable(error: unknown): boolean {
  return (
    typeof error === 'object' && error !== null && 'name' in error && unavailable.has(String(error.name))
  );
}

const unavailable = new Set([
  'MongoServerSelectionError',
  'MongoNetworkError',
  'MongoNetworkTimeoutError',
  'MongoPoolClearedError',
  'MongoPoolClosedError',
  'MongoNotConnectedError',
  'MongoWaitQueueTimeoutError',
  'PoolClearedOnNetworkError',
]);

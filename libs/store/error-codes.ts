/** Tells errors of MongoDB apart: duplicates, conflicts and outages. */
import mongoose from 'mongoose';

/** Whether an error of MongoDB has a label, such as `TransientTransactionError`. */
function hasLabel(error: unknown, label: string): boolean {
  return error instanceof mongoose.mongo.MongoError && error.hasErrorLabel(label);
}

const unknownCommit = 'UnknownTransactionCommitResult';

/** Whether a transaction that failed with this error may have been committed: the answer to its commit is missing. */
export function isCommitUnknown(error: unknown): boolean {
  return hasLabel(error, unknownCommit);
}

/** Makes `isCommitUnknown` true for an error. The driver does not do this if it cannot repeat a lost commit. */
export function markCommitUnknown(error: unknown): void {
  if (error instanceof mongoose.mongo.MongoError) error.addErrorLabel(unknownCommit);
}

/** A row has changed between its read before a transaction and its change in it. The transaction is retried. */
export class RowChanged extends Error {
  /** The code with which MongoDB reports a conflict of transactions. */
  readonly code = 112;
}

/** Whether a transaction failed with this error before its commit, so that it has changed nothing. */
export function isAborted(error: unknown): boolean {
  return error instanceof RowChanged || hasLabel(error, 'TransientTransactionError');
}

/** Whether an error is a duplicate key error. */
export function isDuplicate(error: unknown): boolean {
  return hasCode(error, 11000);
}

/** Whether an error is a write conflict: another transaction changed the same row. */
export function isWriteConflict(error: unknown): boolean {
  return hasCode(error, 112);
}

/** Whether the user of the connection has no right to run the command. */
export function isUnauthorized(error: unknown): boolean {
  return hasCode(error, 13);
}

/** Whether a command names an index that does not exist. */
export function isIndexNotFound(error: unknown): boolean {
  return hasCode(error, 27);
}

function hasCode(error: unknown, code: number): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && error.code === code;
}

/** Whether a transaction failed because others were changing the same rows (WriteConflict, LockTimeout). */
export function isContention(error: unknown): boolean {
  return isAborted(error) && (hasCode(error, 112) || hasCode(error, 24));
}

/** Whether a transaction failed because its changes do not fit into the cache of MongoDB. */
export function isTooLargeForCache(error: unknown): boolean {
  return hasCode(error, 388);
}

/** Whether an error means that MongoDB cannot be reached or has no primary. */
export function isUnavailable(error: unknown): boolean {
  if (typeof error !== 'object' || error === null) return false;
  if ('name' in error && unavailable.has(String(error.name))) return true;
  // a transaction that was retried until its time limit
  if (isAborted(error)) return true;
  if ('code' in error && (noPrimary.has(Number(error.code)) || failedLookup.has(String(error.code))))
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

/** Codes of DNS. The driver passes them on if the lookup of a `mongodb+srv` address fails. */
const failedLookup = new Set(['ECONNREFUSED', 'ETIMEOUT', 'ESERVFAIL']);

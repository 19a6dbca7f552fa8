/** The public interface of the store library: MongoDB, transactions with events, sealing and views. */
export { binary, type Collection, collection, newBinary, objectId, type StoredRow } from './collection.ts';
export { openDatabase, openReadOnlyStore, type ReadOnlyStore } from './connect.ts';
export {
  isAborted,
  isCommitUnknown,
  isContention,
  isDuplicate,
  isTooLargeForCache,
  isUnavailable,
  RowChanged,
} from './error-codes.ts';
export { type Grant, toGrants } from './grants.ts';
export { type IdempotentRequest, idempotencyCollection, type StoredResponse } from './idempotency.ts';
export { inboxCollection } from './inbox.ts';
export type { Command, StoreInstrumentation } from './instrumentation.ts';
export { createKeyring, type Keyring } from './keyring.ts';
export { indexCommand } from './migration.ts';
export { type Backlog, outboxCollection } from './outbox.ts';
export { opensAll, type ReencryptionResult } from './reencryption.ts';
export type { PublishWrapper } from './relay.ts';
export { lockCollection } from './row-locks.ts';
export { createSealing, type SealedField, type Sealing } from './sealed-field.ts';
export { type SharedReadOptions, sharedRead, sharedReadPerKey } from './shared-reads.ts';
export { openStore, type Store, type StoreOptions } from './store.ts';
export { withTimeout } from './timeout.ts';
export { type Actor, retryForMs, type Transaction, toSessionOptions } from './transaction.ts';
export { openUserAdmin, roleCommand, type UserAdmin, userCommand } from './users.ts';
export { createView, decodeRow, type Finder, type Reader } from './views.ts';

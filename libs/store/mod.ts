/** The door of the store library: MongoDB, transactions with their events, and the views of others. */
export { type Collection, collection } from './collection.ts';
export { openReading, type Reading } from './connect.ts';
export type { EmbeddedError, Mongod } from './embedded/mongod.ts';
export { isAlive, readProcessMark } from './embedded/process-mark.ts';
export { startMongod } from './embedded.ts';
export { type Grant, toGrants } from './grants.ts';
export type { IdempotentRequest, StoredResponse } from './idempotency.ts';
export type { Command, StoreInstrumentation } from './instrumentation.ts';
export { type OpenStore, openStore, type Store } from './open.ts';
export type { Backlog } from './outbox.ts';
export type { Reencrypted } from './reencryption.ts';
export type { Publishing } from './relay.ts';
export { createSealing, type SealedField, type Sealing } from './sealed.ts';
export { createKeyring, type Keyring } from './sealing.ts';
export { type Actor, isContention, isDuplicate, isUnavailable, type Transaction } from './transaction.ts';
export { openUsers, roleCommand, type UserAdmin, userCommand } from './users.ts';
export { createView, type Finder, type Reader } from './views.ts';

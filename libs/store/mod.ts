/** The door of the store library: MongoDB, transactions with their events, and the views of others. */
export { type Collection, collection } from './collection.ts';
export { openReading, type Reading } from './connect.ts';
export type { EmbeddedError, Mongod } from './embedded/mongod.ts';
export { isAlive, markOf } from './embedded/process-mark.ts';
export { startMongod } from './embedded.ts';
export { type Grant, grantsOf } from './grants.ts';
export type { IdempotentRequest, StoredResponse } from './idempotency.ts';
export { type OpenStore, openStore, type Store } from './open.ts';
export type { Waiting } from './outbox.ts';
export type { Publishing } from './relay.ts';
export type { Resealed } from './resealing.ts';
export { type SealedField, type Sealing, sealingWith } from './sealed.ts';
export { type KeyRing, keyRing } from './sealing.ts';
export { type Acting, isContention, isDuplicate, isUnavailable, type Transaction } from './transaction.ts';
export { openUsers, roleCommand, type UserAdmin, userCommand } from './users.ts';
export { type Finder, makeView, type Reader } from './views.ts';
export type { Command, Watch } from './watching.ts';

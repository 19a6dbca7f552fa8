/**
 * The store: a service's connection to MongoDB, with transactions, the outbox, the inbox, idempotency keys
 * and views.
 */
import mongoose from 'mongoose';
import { type Contract, type Envelope, newId, type RowOf, type Secret, type View } from '#libs/contract';
import type { Bus, Topology } from '#libs/events';
import type { Collection } from './collection.ts';
import { connect, getModel } from './connect.ts';
import {
  type IdempotentRequest,
  idempotencyCollection,
  idempotentRequests,
  type StoredResponse,
} from './idempotency.ts';
import { inboxCollection } from './inbox.ts';
import {
  type Connections,
  countConnections,
  instrument,
  type StoreInstrumentation,
} from './instrumentation.ts';
import { type KeyedMutex, keyedMutex } from './keyed-mutex.ts';
import type { Keyring } from './keyring.ts';
import { migrate } from './migration.ts';
import {
  type Backlog,
  collectEvents,
  countBacklog,
  outboxCollection,
  requeue,
  writeOutbox,
} from './outbox.ts';
import { createProcessOnce } from './process-once.ts';
import { type ReencryptionResult, reencrypt } from './reencryption.ts';
import { type PublishWrapper, type Relay, startRelay } from './relay.ts';
import { lockCollection, lockRow } from './row-locks.ts';
import { createSealing, type SealedField, type Sealing } from './sealed-field.ts';
import { withTimeout } from './timeout.ts';
import { type Actor, inTransaction, type Transaction } from './transaction.ts';
import { createReader, missingViews, type Reader } from './views.ts';

/** Options of a store. */
export interface StoreOptions {
  /** The MongoDB address with the service's user. */
  uri: Secret;
  contract: Contract;
  // biome-ignore lint/suspicious/noExplicitAny: collections of any row type; each is typed where it is used
  collections: readonly Collection<any>[];
  topology: Topology;
  bus: Bus;
  /** Whether only this process publishes the service's outbox (in-process bus). */
  alone: boolean;
  /** Seals stored responses and the services' sealed fields. */
  keyring: Keyring;
  now: () => Date;
  /** Gets the W3C trace context of the current work, if it is traced. */
  trace: () => string | undefined;
  instrumentation?: StoreInstrumentation;
  /** Publishes an event in its own span and adds that span's trace context to the event. */
  wrapPublish?: PublishWrapper;
  onError(message: string, error: unknown): void;
}

/** A service's access to MongoDB. */
export interface Store {
  /** Gets the mongoose model of an owned collection. */
  rows<Row extends { _id: string }>(collection: Collection<Row>): mongoose.Model<Row>;
  /** Gets the driver's collection. It takes less CPU time than the model, and leaves all checks to the row type. */
  collection<Row extends { _id: string }>(collection: Collection<Row>): mongoose.mongo.Collection<Row>;
  /** Gets a reader of a view, owned by this service or by another one. */
  read<V extends View>(view: V): Reader<RowOf<V>>;
  /** Gets the files of an owned GridFS bucket. */
  files(bucket: string): mongoose.mongo.GridFSBucket;
  /**
   * Runs `work` in a transaction that also writes its events. If `actor` is already in a transaction, `work`
   * joins it. After a conflict, `work` may run again.
   */
  transact<R>(actor: Actor, work: (tx: Transaction) => Promise<R>): Promise<R>;
  /**
   * Handles an event once: commits `work` together with the event's id, so that a second delivery has no
   * effect. Returns whether this call committed its work.
   */
  processOnce(event: Envelope, work: (tx: Transaction) => Promise<void>): Promise<boolean>;
  /**
   * Runs `work` in one transaction, as `transact` does, and returns the reply that `work` creates. If the
   * request has an Idempotency-Key, the response is stored in the same transaction. The handler of an
   * authenticated POST must reply through this method.
   */
  respond<A extends Actor, R>(
    actor: A,
    work: (actor: A & { tx: Transaction }, tx: Transaction) => Promise<R>,
  ): Promise<R>;
  /** Returns the response stored for an Idempotency-Key, or the reply of `work`, which calls `respond`. */
  withIdempotencyKey<A extends Actor, R>(
    actor: A,
    request: Pick<IdempotentRequest, 'claim' | 'toResponse'>,
    work: (actor: A) => Promise<R>,
  ): Promise<{ stored: StoredResponse } | { reply: R }>;
  /** Gets the sealing of a field. Throws unless a collection of this service declares it as sealed. */
  sealing<Part>(field: SealedField<Part>): Sealing<Part>;
  /** Gets the function that decrypts a field of a view. Throws unless a view that this service reads declares it. */
  opening<Part>(field: SealedField<Part>): Sealing<Part>['open'];
  /**
   * Re-encrypts every sealed text that was not sealed with the newest key. You can stop and repeat it, and
   * services may run meanwhile.
   */
  reencrypt(): Promise<ReencryptionResult[]>;
  /** Runs work with the same key one at a time within this process. */
  withLock: KeyedMutex;
  /**
   * Makes a transaction conflict with every other one of this service that locks the same key. A conflicting
   * transaction is retried and then sees what the other one has written.
   */
  lockRow(key: string, tx: Transaction): Promise<void>;
  /** Creates collections, indexes and views, and drops obsolete indexes. Idempotent. */
  migrate(): Promise<void>;
  /** Gets the names of the other services' views that do not exist yet. */
  missingViews(): Promise<string[]>;
  /** Starts the relay, which publishes events. */
  relay(): void;
  /** Republishes the events that were published in the last `sinceMs`; returns their number. */
  republish(sinceMs: number): Promise<number>;
  /** Counts the unpublished events. Rejects if MongoDB does not respond within two seconds. */
  backlog(): Promise<Backlog>;
  /** Counts the current connections to MongoDB. */
  connections(): Connections;
  /** Rejects if MongoDB does not respond within two seconds. */
  ping(): Promise<void>;
  /** Closes the connection. Waits up to two seconds for pending changes. */
  close(): Promise<void>;
}

/** Connects to MongoDB. Rejects if MongoDB cannot be reached within two seconds. */
export async function openStore(options: StoreOptions): Promise<Store> {
  const { contract, bus, now, topology, onError } = options;
  const { connection, db } = await connect(options.uri, { appName: contract.name, maxPoolSize: 50 });
  if (options.instrumentation) instrument(connection.getClient(), options.instrumentation);
  const by = newId();
  const outbox = outboxCollection(contract.name);
  const inbox = inboxCollection(contract.name);
  const idempotency = idempotencyCollection(contract.name);
  const locks = lockCollection(contract.name);
  const all = [...options.collections, outbox, inbox, idempotency, locks];
  let relay: Relay | undefined;

  const rows: Store['rows'] = (collection) => getModel(connection, collection);
  const collection: Store['collection'] = ({ name }) => db.collection(name);

  const requests = idempotentRequests({
    rows: collection(idempotency),
    keyring: options.keyring,
    now,
  });
  const pendingChanges = new Set<Promise<unknown>>();
  const transact: Store['transact'] = async (actor, work) => {
    if (actor.tx) return work(actor.tx);
    const change = runTransaction(actor, work);
    pendingChanges.add(change);
    try {
      return await change;
    } finally {
      pendingChanges.delete(change);
    }
  };
  const runTransaction = async <R>(actor: Actor, work: (tx: Transaction) => Promise<R>): Promise<R> => {
    let outboxEvents: Envelope[] = [];
    const result = await inTransaction(connection.getClient(), async (session) => {
      const tx = collectEvents(actor, session, options);
      const value = await work(tx);
      outboxEvents = await writeOutbox(collection(outbox), tx, { topology, now, by });
      return value;
    });
    if (outboxEvents.length > 0) options.instrumentation?.eventsPublished(outboxEvents.length);
    relay?.notify(outboxEvents);
    return result;
  };

  return {
    rows,
    collection,
    read: (view) => createReader(db, view),
    files: (bucket) => new mongoose.mongo.GridFSBucket(db, { bucketName: bucket }),
    transact,
    processOnce: createProcessOnce({ inbox: collection(inbox), transact, now }),
    respond(actor, work) {
      return transact(actor, async (tx) => {
        const reply = await work({ ...actor, tx, idempotency: undefined }, tx);
        if (actor.idempotency) await requests.save(actor.idempotency, reply, tx.session);
        return reply;
      });
    },
    withIdempotencyKey: (actor, request, work) =>
      requests.run(request, (idempotency) => work({ ...actor, idempotency })),
    sealing(field) {
      // `reencrypt` would miss a field that no collection declares
      if (!all.some(({ sealed }) => sealed.includes(field)))
        throw new Error(`No collection of ${contract.name} declares the sealed field ${field.path}`);
      return createSealing(options.keyring, field);
    },
    opening(field) {
      if (!contract.reads.some(({ sealed }) => sealed?.includes(field)))
        throw new Error(`No view that ${contract.name} reads declares the sealed field ${field.path}`);
      return createSealing(options.keyring, field).open;
    },
    async reencrypt() {
      const results: ReencryptionResult[] = [];
      for (const collection of all) results.push(...(await reencrypt(db, collection, options.keyring)));
      return results;
    },
    withLock: keyedMutex(),
    lockRow: (key, tx) => lockRow(rows(locks), key, tx),
    migrate: () => migrate(db, { collections: all, views: contract.views, onError }),
    missingViews: () => missingViews(db, contract.reads),
    relay() {
      relay ??= startRelay({
        ...{ outbox: rows(outbox), bus, by, alone: options.alone, now, onError },
        ...(options.wrapPublish && { wrapPublish: options.wrapPublish }),
      });
    },
    async republish(sinceMs) {
      if (relay) return relay.republish(sinceMs);
      return requeue(rows(outbox), new Date(now().getTime() - sinceMs), now());
    },
    backlog: () => withTimeout(countBacklog(rows(outbox), now())),
    connections: () => countConnections(connection.getClient()),
    async ping() {
      await withTimeout(db.command({ ping: 1 }));
    },
    async close() {
      // MongoDB may keep the locks of an interrupted transaction for a minute
      await withTimeout(Promise.allSettled(pendingChanges)).catch(() => undefined);
      await relay?.stop();
      await connection.close();
    },
  };
}

/** Opens a service's own connection to MongoDB and hands out what may be done with it. */
import mongoose from 'mongoose';
import { type Contract, type Envelope, newId, type RowOf, type Secret, type View } from '#libs/contract';
import type { Bus, Topology } from '#libs/events';
import type { Collection } from './collection.ts';
import { connect } from './connect.ts';
import {
  type IdempotencyRow,
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
import {
  type Backlog,
  collectEvents,
  countBacklog,
  outboxCollection,
  requeue,
  writeOutbox,
} from './outbox.ts';
import { type ReencryptionResult, reencrypt } from './reencryption.ts';
import { type PublishWrapper, type Relay, startRelay } from './relay.ts';
import { createSealing, type SealedField, type Sealing } from './sealed-field.ts';
import { SwapRemoveSet } from './swap-remove-set.ts';
import { type Actor, inTransaction, isDuplicate, type Transaction } from './transaction.ts';
import { createView, ignoreAlreadyExists, missingViews, type Reader, reader } from './views.ts';

export interface StoreOptions {
  /** MongoDB's address with the service's own user. */
  uri: Secret;
  contract: Contract;
  // biome-ignore lint/suspicious/noExplicitAny: collections of every row type; each is typed where it is used
  collections: readonly Collection<any>[];
  topology: Topology;
  bus: Bus;
  /** Whether this process alone publishes the service's outbox (in-process bus). */
  alone: boolean;
  /** Seals stored responses, and what services keep secret. */
  ring: Keyring;
  now: () => Date;
  /** The W3C trace context of what is going on, if it is traced. */
  trace: () => string | undefined;
  /** Told of commands and connections. */
  instrumentation?: StoreInstrumentation;
  /** Publishes an event within a span of its own, which the event then names. */
  wrapPublish?: PublishWrapper;
  onError(what: string, error: unknown): void;
}

/** What a service may do with MongoDB. */
export interface Store {
  /** Rows of an owned collection. */
  rows<Row extends { _id: string }>(collection: Collection<Row>): mongoose.Model<Row>;
  /** A view of this service's own or another's collections. */
  read<V extends View>(view: V): Reader<RowOf<V>>;
  /** Files of an owned GridFS bucket. */
  files(bucket: string): mongoose.mongo.GridFSBucket;
  /** Runs work in one transaction with the events it says, or joins the one that `acting` is in. May run it again after a conflict. */
  transact<R>(acting: Actor, work: (tx: Transaction) => Promise<R>): Promise<R>;
  /**
   * Handles an event once: work and the event's id are committed together; a second delivery does nothing. Whether this
   * call is the one whose work is committed.
   */
  processOnce(event: Envelope, work: (tx: Transaction) => Promise<void>): Promise<boolean>;
  /**
   * Runs work in one transaction, as `transact` does. What it returns is the reply to the request: where the request has
   * an Idempotency-Key, the response is stored in the same transaction. Every handler of a POST replies through this.
   */
  respond<A extends Actor, R>(
    acting: A,
    work: (acting: A & { tx: Transaction }, tx: Transaction) => Promise<R>,
  ): Promise<R>;
  /** The response that is stored for a request with an Idempotency-Key, or else the reply of `work`, which stores it with `respond`. */
  withIdempotencyKey<A extends Actor, R>(
    acting: A,
    request: Pick<IdempotentRequest, 'claim' | 'toResponse'>,
    work: (acting: A) => Promise<R>,
  ): Promise<{ stored: StoredResponse } | { reply: R }>;
  /** Seals and opens a field that one of this service's collections declares as sealed; throws for any other. */
  sealing<Part>(field: SealedField<Part>): Sealing<Part>;
  /** Seals anew, field by field, what is sealed with another key than the first. May be stopped and repeated; services may go on meanwhile. */
  reencrypt(): Promise<ReencryptionResult[]>;
  /** One after the other within this process, by key. */
  withLock: KeyedMutex;
  /** Makes collections, indexes and views. Idempotent. */
  migrate(): Promise<void>;
  /** The names of views of others that are not there yet. */
  missingViews(): Promise<string[]>;
  /** Starts to publish events. */
  relay(): void;
  /** Publishes again what was published in the last so many ms, because it may be lost; gives the number of events. */
  republish(sinceMs: number): Promise<number>;
  /** What waits to be published; rejects when MongoDB does not answer within two seconds. */
  backlog(): Promise<Backlog>;
  /** The connections to MongoDB at this moment. */
  connections(): Connections;
  /** Rejects when MongoDB does not answer within two seconds. */
  ping(): Promise<void>;
  /** Lets changes that are under way come to their end, for two seconds at most. */
  close(): Promise<void>;
}

/** Connects; rejects when MongoDB cannot be reached within five seconds. */
export async function openStore(options: StoreOptions): Promise<Store> {
  const { contract, bus, now, topology, onError } = options;
  const { connection, db } = await connect(options.uri, { appName: contract.name, maxPoolSize: 50 });
  if (options.instrumentation) instrument(connection.getClient(), options.instrumentation);
  const by = newId();
  const outbox = outboxCollection(contract.name);
  const inbox = inboxCollection(contract.name);
  const idempotency = idempotencyCollection(contract.name);
  const all = [...options.collections, outbox, inbox, idempotency];
  let relay: Relay | undefined;

  const rows = <Row extends { _id: string }>({ name, schema }: Collection<Row>): mongoose.Model<Row> => {
    const model: unknown = connection.models[name] ?? connection.model(name, schema);
    // mongoose keeps models by name and forgets their row type; the name was given by this very collection
    return model as mongoose.Model<Row>;
  };

  const requests = idempotentRequests({
    rows: db.collection<IdempotencyRow>(idempotency.name),
    ring: options.ring,
    now,
  });
  const pendingChanges = new SwapRemoveSet<Promise<unknown>>();
  const transact: Store['transact'] = async (acting, work) => {
    if (acting.tx) return work(acting.tx);
    const change = runTransaction(acting, work);
    pendingChanges.add(change);
    try {
      return await change;
    } finally {
      pendingChanges.delete(change);
    }
  };
  const runTransaction = async <R>(acting: Actor, work: (tx: Transaction) => Promise<R>): Promise<R> => {
    let publishedEvents: Envelope[] = [];
    const result = await inTransaction(connection.getClient(), async (session) => {
      const tx = collectEvents(acting, session, now, options.trace);
      const done = await work(tx);
      publishedEvents = await writeOutbox(rows(outbox), tx, { topology, now, by });
      return done;
    });
    if (publishedEvents.length > 0) options.instrumentation?.eventsPublished(publishedEvents.length);
    relay?.notify(publishedEvents);
    return result;
  };

  return {
    rows,
    read: (view) => reader(db, view),
    files: (bucket) => new mongoose.mongo.GridFSBucket(db, { bucketName: bucket }),
    transact,
    async processOnce(event, work) {
      const acting = { organization_id: event.organization_id, user_id: event.actor_id };
      try {
        await transact(acting, async (tx) => {
          await rows(inbox).insertMany([{ _id: event.id, handled_at: now() }], {
            session: tx.session,
            lean: true,
          });
          await work(tx);
        });
        return true;
      } catch (error) {
        if (!isDuplicate(error) || !(await rows(inbox).exists({ _id: event.id }))) throw error;
        return false;
      }
    },
    respond(acting, work) {
      return transact(acting, async (tx) => {
        const reply = await work({ ...acting, tx, idempotency: undefined }, tx);
        if (acting.idempotency) await requests.save(acting.idempotency, reply, tx);
        return reply;
      });
    },
    withIdempotencyKey: (acting, request, work) =>
      requests.run(request, (idempotency) => work({ ...acting, idempotency })),
    sealing(field) {
      // what no collection declares would be left behind when the key is exchanged
      if (!all.some(({ sealed }) => sealed.includes(field)))
        throw new Error(`${contract.name} declares no sealed field ${field.path}`);
      return createSealing(options.ring, field);
    },
    async reencrypt() {
      const results: ReencryptionResult[] = [];
      for (const of of all) results.push(...(await reencrypt(db, of, options.ring)));
      return results;
    },
    withLock: keyedMutex(),
    async migrate() {
      const existing = new Set(
        (await db.listCollections({}, { nameOnly: true }).toArray()).map(({ name }) => name),
      );
      const absent = all.filter(({ name }) => !existing.has(name));
      await Promise.all(absent.map(({ name }) => db.createCollection(name).catch(ignoreAlreadyExists)));
      await Promise.all(all.map((options) => rows(options).createIndexes()));
      await Promise.all(contract.views.map((view) => createView(db, view)));
    },
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
    backlog: () => within(answerMs, countBacklog(rows(outbox), now())),
    connections: () => countConnections(connection.getClient()),
    async ping() {
      await within(answerMs, db.command({ ping: 1 }));
    },
    async close() {
      // one that is cut off may leave its locks to MongoDB for a minute
      await within(answerMs, Promise.allSettled(pendingChanges)).catch(() => undefined);
      await relay?.stop();
      await connection.close();
    },
  };
}

const answerMs = 2_000;

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`No answer within ${ms} ms`)), ms);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}

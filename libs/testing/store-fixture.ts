/**
 * The fixture for tests of libs/store: a small service with `things` over a real MongoDB, in a new database.
 */
import { randomBytes } from 'node:crypto';
import mongoose from 'mongoose';
import { z } from 'zod';
import { contract, type Envelope, event, newId, Secret, view } from '#libs/contract';
import { type Bus, BusClosed, memoryBus, toTopology } from '#libs/events';
import {
  collection,
  createKeyring,
  openStore,
  type Store,
  type StoredRow,
  type StoreOptions,
} from '#libs/store';
import { testMongo } from './servers.ts';

/** The collection of the fixture's service. */
export const things = collection('things', {
  row: z.object({
    _id: z.string(),
    organization_id: z.string(),
    name: z.string(),
    secret: z.string().exactOptional(),
  }),
  indexes: [{ on: { organization_id: 1, name: 1 }, options: { unique: true } }],
});
export type ThingRow = StoredRow<typeof things>;

/** An event with one consumer. */
export const ThingMade = event('thing.made', {
  description: 'A thing was created.',
  data: z.strictObject({ name: z.string() }),
});
/** An event without consumers. */
export const ThingUnconsumed = event('thing.unconsumed', {
  description: 'No service consumes this event.',
  data: z.strictObject({}),
});

/** The view of `things`. */
export const thingSummaries = view({
  name: 'thing_summaries',
  collection: 'things',
  scope: 'organization_id',
  row: z.object({ _id: z.string(), organization_id: z.string(), name: z.string() }),
});

/** The contract of the service that owns things and publishes events. */
export const thingProducers = contract({
  name: 'thing-producers',
  title: 'Producers',
  description: 'Creates things.',
  operations: [],
  publishes: [ThingMade, ThingUnconsumed],
  consumes: [],
  owns: ['things'],
  views: [thingSummaries],
  reads: [],
});

/** The contract of a service that consumes `ThingMade` from the queue `thing-consumers`. */
export const thingConsumers = {
  ...thingProducers,
  name: 'thing-consumers',
  publishes: [],
  consumes: [ThingMade],
  owns: [],
  views: [],
};

/** A clock that stands still until `advance` is called. */
export function fakeClock() {
  let time = Date.now();
  return {
    now: () => new Date(time),
    advance(ms: number) {
      time += ms;
    },
  };
}

/** A bus with a custom `publish`. */
export function createFakeBus(publish: Bus['publish']): Bus {
  return { ...memoryBus(toTopology([thingConsumers])), up: true, publish };
}

/** A bus that accepts and records all events. */
export function recordingBus() {
  const taken: Envelope[] = [];
  return { taken, bus: createFakeBus(async (event) => void taken.push(event)) };
}

/** A bus whose `publish` stays pending until the bus closes, as when a process dies before publishing. */
export function unresponsiveBus(): Bus {
  const closing = Promise.withResolvers<never>();
  closing.promise.catch(() => undefined);
  return {
    ...createFakeBus(() => closing.promise),
    async close() {
      closing.reject(new BusClosed());
    },
  };
}

/** An actor in a new organization. */
export function createActor() {
  return { organization_id: newId(), user_id: newId() };
}

/** Creates a thing and publishes `ThingMade` in one transaction, which runs `then` last; returns the id. */
export function createThing(
  store: Store,
  actor: ReturnType<typeof createActor>,
  name: string,
  then: () => Promise<void> = async () => undefined,
): Promise<string> {
  return store.transact(actor, async (tx) => {
    const _id = newId();
    const row = { _id, organization_id: actor.organization_id, name };
    await store.rows(things).insertMany([row], { session: tx.session });
    tx.publish(ThingMade, { name });
    await then();
    return _id;
  });
}

/** The fields of an outbox row that tests read. */
export interface OutboxRow {
  _id: string;
  type: string;
  event: string;
  pending?: boolean;
  failures: number;
  lease_until?: Date;
  published_at?: Date;
}

/** A database and the stores over it. */
export interface StoreFixture {
  uri: string;
  db: mongoose.mongo.Db;
  /** The error messages of the stores. */
  errors: string[];
  /** Opens and migrates a store; `close` and `stop` close it. */
  open(options?: Partial<StoreOptions>): Promise<Store>;
  /** The outbox rows that match, sorted by id. */
  outbox(filter?: object): Promise<OutboxRow[]>;
  /** Closes all open stores and their buses. */
  close(): Promise<void>;
  /** Closes everything and drops the database, unless its MongoDB is `gone`. */
  stop(options?: { gone: boolean }): Promise<void>;
}

/** Creates the fixture; `uri` is the address of a running MongoDB, otherwise one is provided. */
export async function storeFixture(uri?: string): Promise<StoreFixture> {
  const mongo = uri === undefined ? await testMongo() : { uri, stop: async () => undefined };
  const url = new URL(mongo.uri);
  url.pathname = `/test_${randomBytes(6).toString('hex')}`;
  if (url.username && !url.searchParams.has('authSource')) url.searchParams.set('authSource', 'admin');
  const client = await mongoose.mongo.MongoClient.connect(url.href, { serverSelectionTimeoutMS: 5_000 });
  const db = client.db();
  const open: { store: Store; bus: Bus }[] = [];
  const errors: string[] = [];
  const close = async () => {
    const closing = open.splice(0);
    for (const { bus } of closing) await bus.close();
    await Promise.all(closing.map(({ store }) => store.close()));
  };
  return {
    uri: url.href,
    db,
    errors,
    async open(options = {}) {
      const bus = options.bus ?? recordingBus().bus;
      const store = await openStore({
        uri: new Secret(url.href),
        contract: thingProducers,
        collections: [things],
        topology: toTopology([thingProducers, thingConsumers]),
        alone: true,
        keyring: createKeyring(new Secret(randomBytes(32).toString('base64'))),
        now: () => new Date(),
        trace: () => undefined,
        onError: (message) => void errors.push(message),
        ...options,
        bus,
      });
      open.push({ store, bus });
      await store.migrate();
      return store;
    },
    outbox: (filter = {}) =>
      db.collection<OutboxRow>('thing_producers_outbox').find(filter).sort({ _id: 1 }).toArray(),
    close,
    async stop({ gone } = { gone: false }) {
      await close();
      if (!gone) await db.dropDatabase();
      await client.close();
      await mongo.stop();
    },
  };
}

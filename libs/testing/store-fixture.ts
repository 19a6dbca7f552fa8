/** The stage for tests of the store: a small service of things over a real MongoDB, in a database of its own. */
import { randomBytes } from 'node:crypto';
import mongoose from 'mongoose';
import { z } from 'zod';
import { contract, type Envelope, event, newId, Secret, view } from '#libs/contract';
import { type Bus, BusClosed, memoryBus, toTopology } from '#libs/events';
import { collection, createKeyring, type OpenStore, openStore, type Store } from '#libs/store';
import { testMongo } from './servers.ts';

/** A thing, as the stage's service keeps it. */
export interface ThingRow {
  _id: string;
  organization_id: string;
  name: string;
  secret?: string;
}

export const things = collection<ThingRow>('things', {
  fields: { _id: String, organization_id: String, name: String, secret: String },
  indexes: [{ on: { organization_id: 1, name: 1 }, options: { unique: true } }],
});

export const ThingMade = event('thing.made', {
  description: 'A thing was made.',
  data: z.strictObject({ name: z.string() }),
});
export const ThingUnconsumed = event('thing.unheard', {
  description: 'Nobody hears this.',
  data: z.strictObject({}),
});

export const thingSummaries = view({
  name: 'thing_faces',
  collection: 'things',
  scope: 'organization_id',
  row: z.object({ _id: z.string(), organization_id: z.string(), name: z.string() }),
});

export const thingProducers = contract({
  name: 'thing-makers',
  title: 'Makers',
  description: 'They make things.',
  operations: [],
  publishes: [ThingMade, ThingUnconsumed],
  consumes: [],
  owns: ['things'],
  views: [thingSummaries],
  reads: [],
});

/** Hears of things; its queue is `hearers`. */
export const thingConsumers = {
  ...thingProducers,
  name: 'hearers',
  publishes: [],
  consumes: [ThingMade],
  owns: [],
  views: [],
};

/** A clock that stands still until it is moved on. */
export function fakeClock() {
  let at = Date.now();
  return {
    now: () => new Date(at),
    advance(ms: number) {
      at += ms;
    },
  };
}

/** A bus whose taking of events a test decides. */
export function createFakeBus(publish: Bus['publish']): Bus {
  return { ...memoryBus(toTopology([thingConsumers])), up: true, publish };
}

/** A bus that takes everything, and what it took. */
export function recordingBus() {
  const taken: Envelope[] = [];
  return { taken, bus: createFakeBus(async (one) => void taken.push(one)) };
}

/** A bus that does not answer before it is closed: as in a process that dies with its events unpublished. */
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

/** Someone of a new organization. */
export function createActor() {
  return { organization_id: newId(), user_id: newId() };
}

/** Makes a thing and says so, in one transaction; `then` runs at its end. */
export function createThing(
  store: Store,
  acting: ReturnType<typeof createActor>,
  name: string,
  then: () => Promise<void> = async () => undefined,
): Promise<string> {
  return store.transact(acting, async (tx) => {
    const _id = newId();
    const row = { _id, organization_id: acting.organization_id, name };
    await store.rows(things).insertMany([row], { session: tx.session });
    tx.publish(ThingMade, { name });
    await then();
    return _id;
  });
}

/** A row of the stage's outbox, as far as tests look into it. */
export interface OutboxRow {
  _id: string;
  type: string;
  event: string;
  pending?: boolean;
  failures: number;
  lease_until?: Date;
  published_at?: Date;
}

/** A database with stores over it. */
export interface StoreFixture {
  uri: string;
  db: mongoose.mongo.Db;
  /** What stores were troubled by. */
  errors: string[];
  /** Opens and prepares a store; closed at the end of the stage at the latest. */
  open(more?: Partial<OpenStore>): Promise<Store>;
  outbox(filter?: object): Promise<OutboxRow[]>;
  /** Closes all stores that were opened. */
  close(): Promise<void>;
  /** Removes the database, unless its MongoDB has gone. */
  stop(options?: { gone: boolean }): Promise<void>;
}

/** Sets the stage; `uri` names a MongoDB that is there already. */
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
    const opened = open.splice(0);
    for (const { bus } of opened) await bus.close();
    await Promise.all(opened.map(({ store }) => store.close()));
  };
  return {
    uri: url.href,
    db,
    errors,
    async open(more = {}) {
      const bus = more.bus ?? recordingBus().bus;
      const store = await openStore({
        uri: new Secret(url.href),
        contract: thingProducers,
        collections: [things],
        topology: toTopology([thingProducers, thingConsumers]),
        alone: true,
        ring: createKeyring(new Secret(randomBytes(32).toString('base64'))),
        now: () => new Date(),
        trace: () => undefined,
        onError: (what) => void errors.push(what),
        ...more,
        bus,
      });
      open.push({ store, bus });
      await store.migrate();
      return store;
    },
    outbox: (filter = {}) =>
      db.collection<OutboxRow>('thing_makers_outbox').find(filter).sort({ _id: 1 }).toArray(),
    close,
    async stop({ gone } = { gone: false }) {
      await close();
      if (!gone) await db.dropDatabase();
      await client.close();
      await mongo.stop();
    },
  };
}

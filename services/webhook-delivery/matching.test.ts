/** What matching does with slots and rows when it is interrupted, fails, or when another one handles the event at the same time. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { type Envelope, event as eventType, newId } from '#libs/contract';
import type { Store } from '#libs/store';
import { subscriptionTerms } from '../identity/contract.ts';
import { matchingSubscribers } from './matching.ts';
import { webhookConfigs, webhookDeliveries, webhookEvents } from './store/collections.ts';
import { createConfigs } from './store/configs.ts';
import { createEventLog } from './store/log.ts';
import { openTestStore } from './testing/store-fixture.ts';

const ThingHappened = eventType('thing.happened', {
  description: 'Something happened.',
  data: z.strictObject({}),
  subscribable: true,
});
const organization_id = newId();

let own: { store: Store; stop(): Promise<void> };

beforeAll(async () => {
  own = await openTestStore();
  const rows = own.store.rows(webhookConfigs);
  const acting = { organization_id, user_id: newId() };
  const hook = { name: 'Hook', url: 'https://example.com', event_types: [ThingHappened.name] };
  await rows.insertMany([
    {
      _id: newId(),
      organization_id,
      created_by: acting.user_id,
      ...hook,
      is_active: true,
      secrets: [],
      created_at: new Date(),
    },
  ]);
  // as identity's view gives it
  const terms = rows.db.collection<{ _id: string; plan: string }>(subscriptionTerms.name);
  await terms.insertOne({ _id: organization_id, plan: 'scale' });
}, 60_000);
afterAll(() => own?.stop());

const happened = (): Envelope => ({
  id: newId(),
  type: ThingHappened.name,
  occurred_at: new Date().toISOString(),
  organization_id,
  actor_id: null,
  data: {},
});

/** Matches an event, with something around the write of its deliveries; gives what became of each booking. */
async function bookingsOf(
  event: Envelope,
  around: (write: () => Promise<unknown>) => Promise<unknown> = (write) => write(),
): Promise<string[]> {
  const { store } = own;
  const bookings: string[] = [];
  const rows: Store['rows'] = (collection) => {
    const model = store.rows(collection);
    if (collection.name !== webhookDeliveries.name) return model;
    const real = model.db.collection(collection.name);
    const bulkWrite = (...all: Parameters<typeof real.bulkWrite>) => around(() => real.bulkWrite(...all));
    const db = Object.create(model.db, { collection: { value: () => ({ bulkWrite }) } });
    return Object.create(model, { db: { value: db } });
  };
  const [listener] = matchingSubscribers([ThingHappened], {
    store,
    configs: createConfigs(store, () => new Date()),
    log: createEventLog({ ...store, rows }, () => new Date()),
    worker: {
      reserve(drafts) {
        const at = bookings.push('open') - 1;
        const end = (how: string) => {
          if (bookings[at] === 'open') bookings[at] = how;
        };
        const ids = new Set(drafts.map(({ row }) => row._id));
        return {
          ...{ token: newId(), ids, lockMs: 60_000 },
          confirm: (those) => end(`${those.size} written`),
          cancel: () => end('cancelled'),
        };
      },
    },
  });
  await listener?.handle(event).catch((error: Error) => bookings.push(error.message));
  return bookings;
}

const rowsOf = ({ id }: Envelope) => own.store.rows(webhookDeliveries).find({ event_id: id }).lean();

test('a confirmed reservation inserts its delivery as leased', async () => {
  const event = happened();
  expect(await bookingsOf(event)).toEqual(['1 written']);
  expect(await rowsOf(event)).toMatchObject([{ status: 'pending', attempts: 1 }]);
});

test('a failed insert cancels the reservation, and a repeated event retries', async () => {
  const event = happened();
  const found = await bookingsOf(event, async () => {
    throw new Error('no');
  });
  expect(found).toEqual(['cancelled', 'no']);
  expect(await rowsOf(event)).toEqual([]);
  expect(await bookingsOf(event)).toEqual(['1 written']);
  expect(await rowsOf(event)).toHaveLength(1);
});

test('a delivery inserted without a response is not inserted again', async () => {
  const event = happened();
  const found = await bookingsOf(event, async (write) => {
    await write();
    throw new Error('no answer');
  });
  expect(found).toEqual(['cancelled', 'no answer']);
  expect(await bookingsOf(event)).toEqual([]);
  expect(await rowsOf(event)).toHaveLength(1);
});

test('an event that was already matched reserves nothing', async () => {
  const event = happened();
  await bookingsOf(event);
  expect(await bookingsOf(event)).toEqual([]);
  expect(await rowsOf(event)).toHaveLength(1);
});

test('an event handled by several replicas at once gives one delivery', async () => {
  const event = happened();
  const found = await Promise.all(Array.from({ length: 8 }, () => bookingsOf(event)));
  expect(found.flat().filter((how) => how !== 'cancelled')).toEqual(['1 written']);
  expect(await rowsOf(event)).toHaveLength(1);
});

test('an event without subscribers is not stored and not sent later', async () => {
  const event = { ...happened(), occurred_at: new Date(Date.now() - 2 * 3_600_000).toISOString() };
  expect(await bookingsOf(event)).toEqual([]);
  const { db } = own.store.rows(webhookEvents);
  for (const name of [webhookEvents.name, webhookDeliveries.name, 'webhook_delivery_inbox']) {
    const rows = db.collection<{ _id: string; event_id?: string }>(name);
    expect(await rows.countDocuments({ $or: [{ _id: event.id }, { event_id: event.id }] })).toBe(0);
  }
});

test('a reservation is cancelled if another replica inserts first', async () => {
  const event = happened();
  const other: string[] = [];
  const found = await bookingsOf(event, async (write) => {
    other.push(...(await bookingsOf(event)));
    return write();
  });
  expect([found, other]).toEqual([['cancelled'], ['1 written']]);
  expect(await rowsOf(event)).toHaveLength(1);
});

test('a repeated event inserts only missing deliveries of its recipients', async () => {
  const [event, late] = [happened(), happened()];
  const rows = own.store.rows(webhookConfigs);
  const hook = await rows.findOne({ organization_id }).lean();
  const another = async () => {
    const _id = newId();
    await rows.insertMany([{ ...hook, _id }]);
    return _id;
  };
  const second = await another();
  await bookingsOf(event);
  await bookingsOf(late, async () => {
    throw new Error('no');
  });
  await own.store.rows(webhookDeliveries).deleteOne({ event_id: event.id, config_id: second });
  const third = await another();
  expect(await bookingsOf(event)).toEqual(['1 written']);
  expect(await bookingsOf(late)).toEqual(['2 written']);
  const contested = happened();
  const found = await bookingsOf(contested, async (write) => {
    await bookingsOf(contested);
    await own.store.rows(webhookDeliveries).deleteOne({ event_id: contested.id, config_id: third });
    return write();
  });
  expect(found).toEqual(['1 written']);
  for (const one of [event, late])
    expect((await rowsOf(one)).map(({ config_id }) => config_id).sort()).toEqual([hook?._id, second].sort());
  expect(await rowsOf(contested)).toHaveLength(3);
});

/** What matching does with slots when its transaction is tried again, fails, or when another one handled the event. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import mongoose from 'mongoose';
import { z } from 'zod';
import { type Envelope, event as eventType, newId } from '#libs/contract';
import type { Store, Transaction } from '#libs/store';
import { subscriptionTerms } from '../identity/contract.ts';
import { matching } from './matching.ts';
import { webhookConfigs, webhookDeliveries, webhookEvents } from './store/collections.ts';
import { configs } from './store/configs.ts';
import { eventLog } from './store/log.ts';
import { ownStore } from './testing/own-store.ts';

const ThingHappened = eventType('thing.happened', {
  sentence: 'Something happened.',
  data: z.strictObject({}),
  subscribable: true,
});
const organization_id = newId();

let own: { store: Store; stop(): Promise<void> };

beforeAll(async () => {
  own = await ownStore();
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

/** Matches an event, with `after` at the end of each try of its transaction; gives what became of each booking. */
async function bookingsOf(
  event: Envelope,
  after: (tries: number, tx: Transaction) => unknown = () => undefined,
): Promise<string[]> {
  const { store } = own;
  const bookings: string[] = [];
  let tries = 0;
  const transact: Store['transact'] = (acting, work) =>
    store.transact(acting, async (tx) => {
      const done = await work(tx);
      tries += 1;
      await after(tries, tx);
      return done;
    });
  const [listener] = matching([ThingHappened], {
    store,
    configs: configs(store, () => new Date()),
    log: eventLog({ ...store, transact }, () => new Date()),
    worker: {
      book(drafts) {
        const at = bookings.push('open') - 1;
        const end = (how: string) => () => {
          if (bookings[at] === 'open') bookings[at] = how;
        };
        const ids = new Set(drafts.map(({ row }) => row._id));
        return { token: newId(), ids, lockMs: 60_000, written: end('written'), cancel: end('cancelled') };
      },
    },
  });
  await listener?.handle(event).catch((error: Error) => bookings.push(error.message));
  return bookings;
}

const rowsOf = ({ id }: Envelope) => own.store.rows(webhookDeliveries).find({ event_id: id }).lean();

test('a booking is told that its rows are written, and they are in hand', async () => {
  const event = happened();
  expect(await bookingsOf(event)).toEqual(['written']);
  expect(await rowsOf(event)).toMatchObject([{ status: 'pending', attempts: 1 }]);
});

test('what a try booked is cancelled when MongoDB asks for another', async () => {
  const event = happened();
  const conflict = new mongoose.mongo.MongoError('conflict');
  conflict.addErrorLabel('TransientTransactionError');
  const found = await bookingsOf(event, (tries) => {
    if (tries === 1) throw conflict;
  });
  expect(found).toEqual(['cancelled', 'written']);
  expect(await rowsOf(event)).toHaveLength(1);
});

test('what was booked is cancelled when the event cannot be handled', async () => {
  const event = happened();
  const found = await bookingsOf(event, () => {
    throw new Error('no');
  });
  expect(found).toEqual(['cancelled', 'no']);
  expect(await rowsOf(event)).toEqual([]);
});

test('an event that was handled before books nothing', async () => {
  const event = happened();
  await bookingsOf(event);
  expect(await bookingsOf(event)).toEqual([]);
  expect(await rowsOf(event)).toHaveLength(1);
});

test('an event that comes many times at once, to several replicas, is one delivery', async () => {
  const event = happened();
  const found = await Promise.all(Array.from({ length: 8 }, () => bookingsOf(event)));
  expect(found.flat().filter((how) => how !== 'cancelled')).toEqual(['written']);
  expect(await rowsOf(event)).toHaveLength(1);
});

test('an event that nobody subscribed to leaves nothing behind, and is not told to whoever subscribes hours later', async () => {
  const event = { ...happened(), occurred_at: new Date(Date.now() - 2 * 3_600_000).toISOString() };
  expect(await bookingsOf(event)).toEqual([]);
  const { db } = own.store.rows(webhookEvents);
  for (const name of [webhookEvents.name, webhookDeliveries.name, 'webhook_delivery_inbox']) {
    const rows = db.collection<{ _id: string; event_id?: string }>(name);
    expect(await rows.countDocuments({ $or: [{ _id: event.id }, { event_id: event.id }] })).toBe(0);
  }
});

test('what was booked is cancelled when another one turns out to have handled the event', async () => {
  const event = happened();
  const conflict = new mongoose.mongo.MongoError('conflict');
  conflict.addErrorLabel('TransientTransactionError');
  const other: string[] = [];
  const found = await bookingsOf(event, async (_tries, tx) => {
    await tx.session.abortTransaction();
    other.push(...(await bookingsOf(event)));
    throw conflict;
  });
  expect([found, other]).toEqual([['cancelled'], ['written']]);
  expect(await rowsOf(event)).toHaveLength(1);
});

/** Tests what is inserted when matching fails, is repeated or runs on several replicas. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { type Envelope, event as eventType, newId } from '#libs/contract';
import type { Store } from '#libs/store';
import { profileCommands } from '#libs/testing';
import { subscriptionTerms } from '../../identity/contract.ts';
import { createLiveListeners } from '../listening/live-listeners.ts';
import { webhookConfigs, webhookDeliveries, webhookEvents } from '../store/collections.ts';
import { createListenerEvents } from '../store/listener-events.ts';
import { createListeners } from '../store/listeners.ts';
import { createNewDeliveries } from '../store/new-deliveries.ts';
import { createReceivers } from '../store/receivers.ts';
import { openTestStore, type TestStore } from '../testing/store-fixture.ts';
import { matchingSubscribers } from './matching.ts';

const ThingHappened = eventType('thing.happened', {
  description: 'A test event.',
  data: z.strictObject({}),
  subscribable: true,
});
const organization_id = newId();

let fixture: TestStore;

beforeAll(async () => {
  fixture = await openTestStore();
  const rows = fixture.store.rows(webhookConfigs);
  const actor = { organization_id, user_id: newId() };
  const hook = { name: 'Hook', url: 'https://example.com', event_types: [ThingHappened.name] };
  await rows.insertMany([
    {
      _id: newId(),
      organization_id,
      created_by: actor.user_id,
      ...hook,
      is_active: true,
      secrets: [],
      created_at: new Date(),
    },
  ]);
  const plans = fixture.db.collection<{ _id: string; plan: string }>(subscriptionTerms.collection);
  await plans.insertOne({ _id: organization_id, plan: 'scale' });
});
afterAll(() => fixture?.stop());

const createEvent = (): Envelope => ({
  id: newId(),
  type: ThingHappened.name,
  occurred_at: new Date().toISOString(),
  organization_id,
  actor_id: null,
  data: {},
});

/**
 * Matches an event. `around` wraps the insert of its deliveries. Returns the number of deliveries passed to the
 * dispatcher, or the message of an error.
 */
async function match(
  event: Envelope,
  around: (write: () => Promise<unknown>) => Promise<unknown> = (write) => write(),
): Promise<number | string> {
  const { store } = fixture;
  let passed = 0;
  const collection: Store['collection'] = (owned) => {
    const real = store.collection(owned);
    if (owned.name !== webhookDeliveries.name) return real;
    const bulkWrite = (...all: Parameters<typeof real.bulkWrite>) => around(() => real.bulkWrite(...all));
    return Object.create(real, { bulkWrite: { value: bulkWrite } });
  };
  const newDeliveries = createNewDeliveries({ ...store, collection }, () => new Date(), 60_000);
  const [subscriber] = matchingSubscribers([ThingHappened], {
    store,
    receivers: createReceivers(store, () => new Date()),
    newDeliveries,
    liveListeners: createLiveListeners(createListeners(store, () => new Date())),
    listenerEvents: createListenerEvents(store, () => new Date()),
    dispatcher: {
      async insertAndDeliver({ rows }) {
        passed += (await newDeliveries.insertMissing(rows, { token: '', ids: new Set() })).length;
      },
    },
  });
  try {
    await subscriber?.handle(event);
    return passed;
  } catch (error) {
    return Error.isError(error) ? error.message : String(error);
  }
}

const findRows = ({ id }: Envelope) => fixture.store.rows(webhookDeliveries).find({ event_id: id }).lean();

test('inserted deliveries are due and passed to the dispatcher', async () => {
  const event = createEvent();
  expect(await match(event)).toBe(1);
  expect(await findRows(event)).toMatchObject([
    { status: 'pending', attempts: 0, due_at: expect.any(Date), is_first: true },
  ]);
});

test('after a failed insert, a repeated event inserts the deliveries', async () => {
  const event = createEvent();
  const outcome = await match(event, async () => {
    throw new Error('no');
  });
  expect(outcome).toBe('no');
  expect(await findRows(event)).toEqual([]);
  expect(await match(event)).toBe(1);
  expect(await findRows(event)).toHaveLength(1);
});

test('a delivery inserted without a response is not inserted again', async () => {
  const event = createEvent();
  const outcome = await match(event, async (write) => {
    await write();
    throw new Error('no response');
  });
  expect(outcome).toBe('no response');
  expect(await match(event)).toBe(0);
  expect(await findRows(event)).toHaveLength(1);
});

test('an event that was already matched inserts nothing', async () => {
  const event = createEvent();
  await match(event);
  expect(await match(event)).toBe(0);
  expect(await findRows(event)).toHaveLength(1);
});

test('an event handled by several replicas at once gives one delivery', async () => {
  const event = createEvent();
  const outcomes = await Promise.all(Array.from({ length: 8 }, () => match(event)));
  expect(outcomes.sort()).toEqual([0, 0, 0, 0, 0, 0, 0, 1]);
  expect(await findRows(event)).toHaveLength(1);
});

test('an event without subscribers is not stored and not sent later', async () => {
  const event = { ...createEvent(), occurred_at: new Date(Date.now() - 2 * 3_600_000).toISOString() };
  expect(await match(event)).toBe(0);
  const { db } = fixture.store.rows(webhookEvents);
  for (const name of [webhookEvents.name, webhookDeliveries.name, 'webhook_delivery_inbox']) {
    const rows = db.collection<{ _id: string; event_id?: string }>(name);
    expect(await rows.countDocuments({ $or: [{ _id: event.id }, { event_id: event.id }] })).toBe(0);
  }
});

test('nothing is passed to the dispatcher if another replica inserts first', async () => {
  const event = createEvent();
  let otherOutcome: number | string = 0;
  const outcome = await match(event, async (write) => {
    otherOutcome = await match(event);
    return write();
  });
  expect([outcome, otherOutcome]).toEqual([0, 1]);
  expect(await findRows(event)).toHaveLength(1);
});

test('a repeated event inserts only missing deliveries of its recipients', async () => {
  const [event, failedEvent] = [createEvent(), createEvent()];
  const rows = fixture.store.rows(webhookConfigs);
  const hook = await rows.findOne({ organization_id }).lean();
  const createHook = async () => {
    const _id = newId();
    await rows.insertMany([{ ...hook, _id }]);
    return _id;
  };
  const second = await createHook();
  await match(event);
  await match(failedEvent, async () => {
    throw new Error('no');
  });
  await fixture.store.rows(webhookDeliveries).deleteOne({ event_id: event.id, config_id: second });
  const third = await createHook();
  expect(await match(event)).toBe(1);
  expect(await match(failedEvent)).toBe(2);
  const contested = createEvent();
  const outcome = await match(contested, async (write) => {
    await match(contested);
    await fixture.store.rows(webhookDeliveries).deleteOne({ event_id: contested.id, config_id: third });
    return write();
  });
  expect(outcome).toBe(1);
  for (const envelope of [event, failedEvent])
    expect((await findRows(envelope)).map(({ config_id }) => config_id).sort()).toEqual(
      [hook?._id, second].sort(),
    );
  expect(await findRows(contested)).toHaveLength(3);
});

test('events of the same turn share the read of their webhooks', async () => {
  const other = { ...createEvent(), type: 'another.type' };
  const early = { ...createEvent(), occurred_at: '2020-01-01T00:00:00.000Z' };
  const stranger = { ...createEvent(), organization_id: newId() };
  const receivers = createReceivers(fixture.store, () => new Date());
  const events = [createEvent(), other, createEvent(), early, stranger, createEvent()];
  let found: number[] = [];
  const commands = await profileCommands(fixture.db, async () => {
    found = (await Promise.all(events.map(receivers.findSubscribed))).map(({ length }) => length);
  });
  // one read for each type of each organization
  expect(commands.filter(({ collection }) => collection === webhookConfigs.name)).toHaveLength(3);
  const [all = 0] = found;
  expect(all).toBeGreaterThan(0);
  expect(found).toEqual([all, 0, all, 0, 0, all]);
});

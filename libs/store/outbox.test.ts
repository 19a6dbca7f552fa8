/**
 * Tests that a change and its events are committed together, and that the events are published despite
 * crashes.
 */
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { z } from 'zod';
import { type Envelope, event, newId } from '#libs/contract';
import { type Bus, BusClosed, DeadLettered } from '#libs/events';
import { until } from '#libs/testing';
import {
  createActor,
  createFakeBus,
  createThing,
  fakeClock,
  type OutboxRow,
  recordingBus,
  type StoreFixture,
  storeFixture,
  ThingMade,
  ThingUnconsumed,
  things,
  unresponsiveBus,
} from '../testing/store-fixture.ts';

let fixture: StoreFixture;

beforeAll(async () => {
  fixture = await storeFixture();
});
afterEach(async () => {
  await fixture.close();
  await fixture.db.collection('thing_producers_outbox').deleteMany({});
  await fixture.db.collection('things').deleteMany({});
  fixture.errors.length = 0;
});
afterAll(() => fixture?.stop());

const published = (count: number) =>
  until(`${count} marked as published`, async () => {
    const rows = await fixture.outbox({ published_at: { $exists: true } });
    return rows.length === count && rows;
  });
/** A bus that counts the sweeps of the outbox: each sweep reads `up` once. */
const countSweeps = (bus: Bus) => {
  let sweeps = 0;
  const up = {
    get up() {
      sweeps += 1;
      return true;
    },
  };
  const counting = Object.defineProperties({ ...bus }, Object.getOwnPropertyDescriptors(up));
  const untilSwept = (times: number) => {
    const from = sweeps;
    return until('the next sweeps are done', async () => sweeps >= from + times);
  };
  return { bus: counting, untilSwept };
};
const getNames = (events: readonly Envelope[]) =>
  events.map(({ data }) => ThingMade.data.parse(data).name).sort();

test('the backlog is the number of unpublished events and the oldest age', async () => {
  const clock = fakeClock();
  const withoutRelay = await fixture.open({ now: clock.now });
  expect(await withoutRelay.backlog()).toEqual({ count: 0, oldestSeconds: 0 });
  await createThing(withoutRelay, createActor(), 'old');
  clock.advance(30_000);
  await createThing(withoutRelay, createActor(), 'young');
  clock.advance(90_500);
  expect(await withoutRelay.backlog()).toEqual({ count: 2, oldestSeconds: 120.5 });

  const { bus } = recordingBus();
  const withRelay = await fixture.open({ bus, now: clock.now });
  withRelay.relay();
  await published(2);
  expect(await withRelay.backlog()).toEqual({ count: 0, oldestSeconds: 0 });
});

test('a change and its event are committed together', async () => {
  const store = await fixture.open({
    now: () => new Date('2026-01-02T03:04:05.678Z'),
    trace: () => 'traced',
  });
  const ada = createActor();
  await createThing(store, ada, 'a');
  expect(await store.rows(things).countDocuments({})).toBe(1);
  const [row] = await fixture.outbox();
  expect(JSON.parse(row?.event ?? '')).toEqual({
    id: row?._id,
    type: 'thing.made',
    occurred_at: '2026-01-02T03:04:05.678Z',
    organization_id: ada.organization_id,
    actor_id: ada.user_id,
    data: { name: 'a' },
    trace: 'traced',
  });
});

test('occurred_at is the end of the change, not the time of publish', async () => {
  const clock = fakeClock();
  const store = await fixture.open({ now: clock.now });
  await store.transact(createActor(), async (tx) => {
    tx.publish(ThingMade, { name: 'a' });
    clock.advance(1_500);
  });
  const [row] = await fixture.outbox();
  expect(JSON.parse(row?.event ?? '').occurred_at).toBe(clock.now().toISOString());
});

test('a failed change leaves neither the change nor its event', async () => {
  const { bus, taken } = recordingBus();
  const store = await fixture.open({ bus });
  store.relay();
  const fails = () => Promise.reject(new Error('no'));
  await expect(createThing(store, createActor(), 'a', fails)).rejects.toThrow('no');
  await createThing(store, createActor(), 'b');
  await published(1);
  expect(await store.rows(things).countDocuments({})).toBe(1);
  expect(await fixture.outbox()).toHaveLength(1);
  expect(getNames(taken)).toEqual(['b']);
});

test('a crash before the commit leaves neither the change nor its event', async () => {
  const store = await fixture.open();
  const dies = store.transact(createActor(), async (tx) => {
    await createThing(store, { ...createActor(), ...{ tx } }, 'a');
    tx.session.commitTransaction = () => Promise.reject(new Error('dead'));
  });
  await expect(dies).rejects.toThrow('dead');
  expect(await store.rows(things).countDocuments({})).toBe(0);
  expect(await fixture.outbox()).toEqual([]);
});

test('publishing data that does not match its schema fails the whole change', async () => {
  const store = await fixture.open();
  const wrong = store.transact(createActor(), async (tx) => {
    const row = { _id: 'x', organization_id: 'o', name: 'n' };
    await store.rows(things).insertMany([row], { session: tx.session });
    tx.publish(ThingMade, { name: 7 } as unknown as { name: string });
  });
  await expect(wrong).rejects.toThrow();
  expect(await store.rows(things).countDocuments({})).toBe(0);
});

test('a transaction retried after a conflict publishes its events once', async () => {
  const { bus, taken } = recordingBus();
  const store = await fixture.open({ bus });
  store.relay();
  const ada = createActor();
  const _id = await createThing(store, ada, 'a');
  let runs = 0;
  const rename = (name: string) =>
    store.transact(ada, async (tx) => {
      runs += 1;
      const { session } = tx;
      const before = await store.rows(things).findOne({ _id }, null, { session }).lean();
      await store.rows(things).updateOne({ _id }, { name: `${before?.name}${name}` }, { session });
      tx.publish(ThingMade, { name });
    });
  await Promise.all(['b', 'c', 'd', 'e', 'f'].map(rename));
  expect(runs).toBeGreaterThan(5);
  await published(6);
  expect(getNames(taken)).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
  const stored = await store.rows(things).findOne({ _id }).lean();
  expect([...(stored?.name ?? '')].sort()).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
});

test('nested work joins the open transaction with its events', async () => {
  const store = await fixture.open();
  const ada = createActor();
  const whole = store.transact(ada, async (tx) => {
    await createThing(store, { ...ada, ...{ tx } }, 'inner');
    throw new Error('outer');
  });
  await expect(whole).rejects.toThrow('outer');
  expect(await store.rows(things).countDocuments({})).toBe(0);
  expect(await fixture.outbox()).toEqual([]);
});

test('an event that the contract does not list fails the whole change', async () => {
  const store = await fixture.open();
  const unlisted = event('thing.unlisted', { description: 'In no contract.', data: z.object({}) });
  const wrong = store.transact(createActor(), async (tx) => {
    await createThing(store, { ...createActor(), ...{ tx } }, 'a');
    tx.publish(unlisted, {});
  });
  await expect(wrong).rejects.toThrow(
    'The contract of thing-producers does not list the event thing.unlisted',
  );
  expect(await store.rows(things).countDocuments({})).toBe(0);
  expect(await fixture.outbox()).toEqual([]);
});

test('an event without a consumer is not stored', async () => {
  const store = await fixture.open();
  await store.transact(createActor(), async (tx) => tx.publish(ThingUnconsumed, {}));
  expect(await fixture.outbox()).toEqual([]);
});

test('an event is published after the commit and marked as published', async () => {
  const seen: (string | undefined)[] = [];
  const readingBus = createFakeBus(async () => {
    // another connection sees only committed rows
    seen.push((await fixture.db.collection<OutboxRow>('things').findOne({}))?._id);
  });
  const store = await fixture.open({ bus: readingBus });
  store.relay();
  let publishedEarly = false;
  const _id = await createThing(store, createActor(), 'a', async () => {
    publishedEarly = seen.length > 0;
  });
  const [row] = await published(1);
  expect(seen).toEqual([_id]);
  expect(publishedEarly).toBe(false);
  expect(row).not.toHaveProperty('pending');
  expect(row).not.toHaveProperty('lease_until');
});

test('the next process publishes the events of a crashed one at once', async () => {
  const dying = await fixture.open({ bus: unresponsiveBus() });
  dying.relay();
  for (const name of ['a', 'b', 'c']) await createThing(dying, createActor(), name);
  expect(await fixture.outbox({ pending: true })).toHaveLength(3);
  const { bus, taken } = recordingBus();
  const next = await fixture.open({ bus });
  next.relay();
  await published(3);
  expect(getNames(taken)).toEqual(['a', 'b', 'c']);
});

test('another replica publishes an event only after its lease expires', async () => {
  const clock = fakeClock();
  const dying = await fixture.open({ bus: unresponsiveBus(), alone: false, now: clock.now });
  await createThing(dying, createActor(), 'a');
  const { bus, taken } = recordingBus();
  const other = await fixture.open({ bus, alone: false, now: clock.now });
  other.relay();
  // the other replica publishes an event without a lease, but not the leased one
  await fixture.db.collection<OutboxRow>('thing_producers_outbox').insertOne({
    ...((await fixture.outbox())[0] as OutboxRow),
    _id: 'free',
    event: JSON.stringify({ id: 'free', type: 'thing.made', data: { name: 'free' } }),
    lease_until: new Date(0),
  });
  await published(1);
  expect(getNames(taken)).toEqual(['free']);
  clock.advance(11_000);
  await published(2);
  expect(getNames(taken)).toEqual(['a', 'free']);
});

test('a failed publication is retried after growing pauses', async () => {
  const clock = fakeClock();
  let [tries, broken] = [0, true];
  const failing = createFakeBus(async () => {
    tries += 1;
    if (broken) throw new DeadLettered('consumers', new Error('no'));
  });
  const store = await fixture.open({ bus: failing, now: clock.now });
  store.relay();
  await createThing(store, createActor(), 'a');
  const pauses: number[] = [];
  for (const failures of [1, 2, 3]) {
    const row = await until(`${failures} failures`, async () => (await fixture.outbox({ failures }))[0]);
    pauses.push((row.lease_until?.getTime() ?? 0) - clock.now().getTime());
    broken = failures < 3;
    clock.advance((pauses.at(-1) ?? 0) + 1);
  }
  await published(1);
  expect(pauses).toEqual([1_000, 2_000, 4_000]);
  expect(tries).toBe(4);
  expect(fixture.errors).toHaveLength(3);
});

test('BusClosed is neither counted as a failure nor logged', async () => {
  const store = await fixture.open({ bus: createFakeBus(() => Promise.reject(new BusClosed())) });
  store.relay();
  await createThing(store, createActor(), 'a');
  await store.close();
  expect(await fixture.outbox({ pending: true, failures: 0 })).toHaveLength(1);
  expect(fixture.errors).toEqual([]);
});

test('no event is published while the bus is down, and all when it is up', async () => {
  const { bus, taken } = recordingBus();
  let up = false;
  const downBus = {
    ...bus,
    publish: bus.publish,
    get up() {
      return up;
    },
  };
  const dying = await fixture.open({ bus: unresponsiveBus() });
  await createThing(dying, createActor(), 'a');
  await fixture.db
    .collection('thing_producers_outbox')
    .updateMany({}, { $set: { lease_until: new Date(0) } });
  const store = await fixture.open({ bus: downBus, alone: false });
  store.relay();
  await createThing(await fixture.open(), createActor(), 'b');
  expect(taken).toEqual([]);
  up = true;
  await until('the event is published', async () => taken.length >= 1);
  expect(getNames(taken)).toContain('a');
});

test('several replicas share one outbox without publishing an event twice', async () => {
  const dying = await fixture.open({ bus: unresponsiveBus(), alone: false });
  await dying.transact(createActor(), async (tx) => {
    for (let count = 0; count < 700; count += 1) tx.publish(ThingMade, { name: String(count) });
  });
  await fixture.db
    .collection('thing_producers_outbox')
    .updateMany({}, { $set: { lease_until: new Date(0) } });
  const buses = [recordingBus(), recordingBus(), recordingBus()];
  const stores = await Promise.all(buses.map(({ bus }) => fixture.open({ bus, alone: false })));
  for (const store of stores) store.relay();
  await published(700);
  const all = buses.flatMap(({ taken }) => taken);
  expect(all).toHaveLength(700);
  expect(new Set(all.map(({ id }) => id)).size).toBe(700);
});

test('at most 2,000 events are in flight over a slow bus', async () => {
  const dying = await fixture.open({ bus: unresponsiveBus(), alone: false });
  await dying.transact(createActor(), async (tx) => {
    for (let count = 0; count < 2_500; count += 1) tx.publish(ThingMade, { name: String(count) });
  });
  await fixture.db
    .collection('thing_producers_outbox')
    .updateMany({}, { $set: { lease_until: new Date(0) } });
  const gate = Promise.withResolvers<void>();
  let [inFlight, max] = [0, 0];
  const slow = createFakeBus(async () => {
    inFlight += 1;
    max = Math.max(max, inFlight);
    await gate.promise;
    inFlight -= 1;
  });
  const { bus, untilSwept } = countSweeps(slow);
  const store = await fixture.open({ bus });
  store.relay();
  await until('2,000 events are in flight', async () => inFlight >= 2_000);
  await untilSwept(2);
  gate.resolve();
  await published(2_500);
  expect(max).toBe(2_000);
});

test('an event whose lease expires in flight is not published again', async () => {
  const clock = fakeClock();
  const gate = Promise.withResolvers<void>();
  let calls = 0;
  const slow = createFakeBus(() => {
    calls += 1;
    return gate.promise;
  });
  const { bus, untilSwept } = countSweeps(slow);
  const store = await fixture.open({ bus, now: clock.now });
  store.relay();
  await createThing(store, createActor(), 'a');
  await until('publish is called', async () => calls === 1);
  clock.advance(60_000);
  await untilSwept(2);
  gate.resolve();
  await published(1);
  expect(calls).toBe(1);
});

test('close waits until the events in flight are published and marked', async () => {
  const gate = Promise.withResolvers<void>();
  let isCalled = false;
  const slow = createFakeBus(() => {
    isCalled = true;
    return gate.promise;
  });
  const store = await fixture.open({ bus: slow });
  store.relay();
  await createThing(store, createActor(), 'a');
  await until('publish is called', async () => isCalled);
  const closed = store.close();
  gate.resolve();
  await closed;
  expect(await fixture.outbox({ pending: true })).toEqual([]);
});

test('an event names the API key and the request of its change', async () => {
  const store = await fixture.open();
  const [key_id, actor] = [newId(), createActor()];
  const publish = (more: object) =>
    store.transact({ ...actor, ...more }, async (tx) => {
      tx.publish(ThingMade, { name: 'by key' });
      return tx.pendingEvents[0];
    });
  expect(await publish({ key_id, request_id: 'r-1' })).toMatchObject({
    api_key_id: key_id,
    request_id: 'r-1',
  });
  const event = await publish({ key_id: null });
  expect(event).not.toHaveProperty('api_key_id');
  expect(event).not.toHaveProperty('request_id');
});

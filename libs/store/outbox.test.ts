/** A change and its events: one transaction, then one publication, whatever dies in between. */
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import type { Envelope } from '#libs/contract';
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
}, 60_000);
afterEach(async () => {
  await fixture.close();
  await fixture.db.collection('thing_makers_outbox').deleteMany({});
  await fixture.db.collection('things').deleteMany({});
  fixture.errors.length = 0;
});
afterAll(() => fixture?.stop());

const published = (count: number) =>
  until(`${count} marked as published`, async () => {
    const rows = await fixture.outbox({ published_at: { $exists: true } });
    return rows.length === count && rows;
  });
/** A bus that tells how often the sweep has looked whether it is up, which it does each time. */
const watched = (bus: Bus) => {
  let looks = 0;
  const up = {
    get up() {
      looks += 1;
      return true;
    },
  };
  const seen = Object.defineProperties({ ...bus }, Object.getOwnPropertyDescriptors(up));
  const looked = (times: number) => {
    const from = looks;
    return until('the next sweeps', async () => looks >= from + times);
  };
  return { bus: seen, looked };
};
const namesOf = (events: readonly Envelope[]) =>
  events.map(({ data }) => ThingMade.data.parse(data).name).sort();

test('what waits is counted, and how long the oldest has been waiting', async () => {
  const clock = fakeClock();
  const dead = await fixture.open({ now: clock.now });
  expect(await dead.backlog()).toEqual({ count: 0, oldestSeconds: 0 });
  await createThing(dead, createActor(), 'old');
  clock.advance(30_000);
  await createThing(dead, createActor(), 'young');
  clock.advance(90_500);
  expect(await dead.backlog()).toEqual({ count: 2, oldestSeconds: 120.5 });

  const { bus } = recordingBus();
  const alive = await fixture.open({ bus, now: clock.now });
  alive.relay();
  await published(2);
  expect(await alive.backlog()).toEqual({ count: 0, oldestSeconds: 0 });
});

test('a change and its event are committed together', async () => {
  const store = await fixture.open({ now: () => new Date('2026-01-02T03:04:05.678Z'), trace: () => 'traced' });
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

test('an event occurs when the last of its change is done, not when it was said', async () => {
  const clock = fakeClock();
  const store = await fixture.open({ now: clock.now });
  await store.transact(createActor(), async (tx) => {
    tx.publish(ThingMade, { name: 'a' });
    clock.advance(1_500);
  });
  const [row] = await fixture.outbox();
  expect(JSON.parse(row?.event ?? '').occurred_at).toBe(clock.now().toISOString());
});

test('a change that fails leaves neither itself nor its event', async () => {
  const { bus, taken } = recordingBus();
  const store = await fixture.open({ bus });
  store.relay();
  const fails = () => Promise.reject(new Error('no'));
  await expect(createThing(store, createActor(), 'a', fails)).rejects.toThrow('no');
  await createThing(store, createActor(), 'b');
  await published(1);
  expect(await store.rows(things).countDocuments({})).toBe(1);
  expect(await fixture.outbox()).toHaveLength(1);
  expect(namesOf(taken)).toEqual(['b']);
});

test('a process that dies before the commit leaves neither the change nor its event', async () => {
  const store = await fixture.open();
  const dies = store.transact(createActor(), async (tx) => {
    await createThing(store, { ...createActor(), ...{ tx } }, 'a');
    tx.session.commitTransaction = () => Promise.reject(new Error('dead'));
  });
  await expect(dies).rejects.toThrow('dead');
  expect(await store.rows(things).countDocuments({})).toBe(0);
  expect(await fixture.outbox()).toEqual([]);
});

test('saying data of another shape fails the whole change', async () => {
  const store = await fixture.open();
  const wrong = store.transact(createActor(), async (tx) => {
    const row = { _id: 'x', organization_id: 'o', name: 'n' };
    await store.rows(things).insertMany([row], { session: tx.session });
    tx.publish(ThingMade, { name: 7 } as unknown as { name: string });
  });
  await expect(wrong).rejects.toThrow();
  expect(await store.rows(things).countDocuments({})).toBe(0);
});

test('a transaction that is run again after a conflict says its events once', async () => {
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
  expect(namesOf(taken)).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
  const kept = await store.rows(things).findOne({ _id }).lean();
  expect([...(kept?.name ?? '')].sort()).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
});

test('work that acts within a transaction joins it, events and all', async () => {
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

test('an event that nobody hears is not kept', async () => {
  const store = await fixture.open();
  await store.transact(createActor(), async (tx) => tx.publish(ThingUnconsumed, {}));
  expect(await fixture.outbox()).toEqual([]);
});

test('an event is published after the commit, and marked', async () => {
  const seen: (string | undefined)[] = [];
  const looking = createFakeBus(async () => {
    // another connection sees only what is committed
    seen.push((await fixture.db.collection<OutboxRow>('things').findOne({}))?._id);
  });
  const store = await fixture.open({ bus: looking });
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

test('what a process left unpublished is published by the next one at once', async () => {
  const dying = await fixture.open({ bus: unresponsiveBus() });
  dying.relay();
  for (const name of ['a', 'b', 'c']) await createThing(dying, createActor(), name);
  expect(await fixture.outbox({ pending: true })).toHaveLength(3);
  const { bus, taken } = recordingBus();
  const next = await fixture.open({ bus });
  next.relay();
  await published(3);
  expect(namesOf(taken)).toEqual(['a', 'b', 'c']);
});

test('another process takes over only when the lease of the one that died is over', async () => {
  const clock = fakeClock();
  const dying = await fixture.open({ bus: unresponsiveBus(), alone: false, now: clock.now });
  await createThing(dying, createActor(), 'a');
  const { bus, taken } = recordingBus();
  const other = await fixture.open({ bus, alone: false, now: clock.now });
  other.relay();
  // whatever is free is taken: the lease of the first one holds
  await fixture.db.collection<OutboxRow>('thing_makers_outbox').insertOne({
    ...((await fixture.outbox())[0] as OutboxRow),
    _id: 'free',
    event: JSON.stringify({ id: 'free', type: 'thing.made', data: { name: 'free' } }),
    lease_until: new Date(0),
  });
  await published(1);
  expect(namesOf(taken)).toEqual(['free']);
  clock.advance(11_000);
  await published(2);
  expect(namesOf(taken)).toEqual(['a', 'free']);
});

test('a bus that fails is tried again after growing pauses, and nothing is lost', async () => {
  const clock = fakeClock();
  let [tries, broken] = [0, true];
  const failing = createFakeBus(async () => {
    tries += 1;
    if (broken) throw new DeadLettered('hearers', new Error('no'));
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

test('what a closing bus gives back is not counted as a failure, and is no trouble', async () => {
  const store = await fixture.open({ bus: createFakeBus(() => Promise.reject(new BusClosed())) });
  store.relay();
  await createThing(store, createActor(), 'a');
  await store.close();
  expect(await fixture.outbox({ pending: true, failures: 0 })).toHaveLength(1);
  expect(fixture.errors).toEqual([]);
});

test('nothing is published while the bus is down, and all of it once it is up', async () => {
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
  await fixture.db.collection('thing_makers_outbox').updateMany({}, { $set: { lease_until: new Date(0) } });
  const store = await fixture.open({ bus: downBus, alone: false });
  store.relay();
  await createThing(await fixture.open(), createActor(), 'b');
  expect(taken).toEqual([]);
  up = true;
  await until('what was waiting', async () => taken.length >= 1);
  expect(namesOf(taken)).toContain('a');
});

test('several processes share the work of one outbox without publishing twice', async () => {
  const dying = await fixture.open({ bus: unresponsiveBus(), alone: false });
  await dying.transact(createActor(), async (tx) => {
    for (let count = 0; count < 700; count += 1) tx.publish(ThingMade, { name: String(count) });
  });
  await fixture.db.collection('thing_makers_outbox').updateMany({}, { $set: { lease_until: new Date(0) } });
  const takers = [recordingBus(), recordingBus(), recordingBus()];
  const stores = await Promise.all(takers.map(({ bus }) => fixture.open({ bus, alone: false })));
  for (const store of stores) store.relay();
  await published(700);
  const all = takers.flatMap(({ taken }) => taken);
  expect(all).toHaveLength(700);
  expect(new Set(all.map(({ id }) => id)).size).toBe(700);
}, 20_000);

test('a slow bus bounds how many events a process has in hand', async () => {
  const dying = await fixture.open({ bus: unresponsiveBus(), alone: false });
  await dying.transact(createActor(), async (tx) => {
    for (let count = 0; count < 2_500; count += 1) tx.publish(ThingMade, { name: String(count) });
  });
  await fixture.db.collection('thing_makers_outbox').updateMany({}, { $set: { lease_until: new Date(0) } });
  const gate = Promise.withResolvers<void>();
  let [asked, most] = [0, 0];
  const slow = createFakeBus(async () => {
    asked += 1;
    most = Math.max(most, asked);
    await gate.promise;
    asked -= 1;
  });
  const { bus, looked } = watched(slow);
  const store = await fixture.open({ bus });
  store.relay();
  await until('its hands full', async () => asked >= 2_000);
  await looked(2);
  gate.resolve();
  await published(2_500);
  expect(most).toBe(2_000);
}, 20_000);

test('an event that takes longer than its lease is not published again by the process that has it in hand', async () => {
  const clock = fakeClock();
  const gate = Promise.withResolvers<void>();
  let asked = 0;
  const slow = createFakeBus(() => {
    asked += 1;
    return gate.promise;
  });
  const { bus, looked } = watched(slow);
  const store = await fixture.open({ bus, now: clock.now });
  store.relay();
  await createThing(store, createActor(), 'a');
  await until('the bus is asked', async () => asked === 1);
  clock.advance(60_000);
  await looked(2);
  gate.resolve();
  await published(1);
  expect(asked).toBe(1);
});

test('closing publishes what is in hand and waits for its mark', async () => {
  const gate = Promise.withResolvers<void>();
  let asked = false;
  const slow = createFakeBus(() => {
    asked = true;
    return gate.promise;
  });
  const store = await fixture.open({ bus: slow });
  store.relay();
  await createThing(store, createActor(), 'a');
  await until('the bus is asked', async () => asked);
  const closed = store.close();
  gate.resolve();
  await closed;
  expect(await fixture.outbox({ pending: true })).toEqual([]);
});

/** Tests of republishing events after a broker reset, and of publishing while the bus is down. */
import { afterAll, afterEach, beforeAll, expect, test } from '@jest/globals';
import { BusDown } from '#libs/events';
import { until } from '#libs/testing';
import {
  createActor,
  createFakeBus,
  createThing,
  fakeClock,
  recordingBus,
  type StoreFixture,
  storeFixture,
  ThingMade,
} from '../testing/store-fixture.ts';

let fixture: StoreFixture;
beforeAll(async () => {
  fixture = await storeFixture();
});
afterEach(async () => {
  await fixture.close();
  await fixture.db.collection('thing_producers_outbox').deleteMany({});
  fixture.errors.length = 0;
});
afterAll(() => fixture?.stop());

const marked = (count: number) =>
  until(
    `${count} events are marked`,
    async () => (await fixture.outbox({ published_at: { $exists: true } })).length === count,
  );

test('republish publishes the events of the given period again', async () => {
  const clock = fakeClock();
  const { bus, taken } = recordingBus();
  const store = await fixture.open({ bus, now: clock.now });
  store.relay();
  const getName = ({ data }: { data: unknown }) => ThingMade.data.parse(data).name;
  await createThing(store, createActor(), 'old');
  await marked(1);
  clock.advance(2 * 3_600_000);
  await createThing(store, createActor(), 'young');
  await marked(2);
  expect(await store.republish(3_600_000)).toBe(1);
  clock.advance(1);
  await until('the young event is published again', async () => taken.length === 3);
  expect(taken.map(getName)).toEqual(['old', 'young', 'young']);
  expect(taken[2]).toEqual(taken[1]);
  await marked(2);
});

test('republish works in a process that has not started its relay', async () => {
  const { bus, taken } = recordingBus();
  const first = await fixture.open({ bus });
  first.relay();
  await createThing(first, createActor(), 'a');
  await marked(1);
  const second = await fixture.open();
  expect(await second.republish(3_600_000)).toBe(1);
  await until('the event is published again', async () => taken.length === 2);
});

test('BusDown is neither counted as a failure nor logged', async () => {
  let isDown = true;
  let tries = 0;
  const bus = createFakeBus(async () => {
    tries += 1;
    if (isDown) throw new BusDown();
  });
  const store = await fixture.open({ bus });
  store.relay();
  await createThing(store, createActor(), 'a');
  await until('publish is called twice', async () => tries >= 2);
  isDown = false;
  await marked(1);
  expect((await fixture.outbox())[0]).toMatchObject({ failures: 0 });
  expect(fixture.errors).toEqual([]);
});

/** What a store does with changes that are under way when it is closed. */
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { createActor, createThing, type StoreFixture, storeFixture } from '../testing/store-fixture.ts';

let fixture: StoreFixture;

beforeEach(async () => {
  fixture = await storeFixture();
});
afterEach(() => fixture?.stop(), 60_000);

test('they come to their end first, once, with their events', async () => {
  const store = await fixture.open();
  const entered = Promise.withResolvers<void>();
  let tries = 0;
  const changed = createThing(store, createActor(), 'late', async () => {
    tries += 1;
    entered.resolve();
    await pause(300);
  });
  await entered.promise;
  await store.close();
  await changed;
  expect(tries).toBe(1);
  expect(await fixture.db.collection('things').countDocuments({ name: 'late' })).toBe(1);
  expect(await fixture.outbox()).toHaveLength(1);
});

/** Tests of closing a store with pending changes. */
import { setTimeout as pause } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { createActor, createThing, type StoreFixture, storeFixture } from '../testing/store-fixture.ts';

let fixture: StoreFixture;

beforeEach(async () => {
  fixture = await storeFixture();
});
afterEach(() => fixture?.stop());

test('close waits for a pending change, which commits once with its event', async () => {
  const store = await fixture.open();
  const entered = Promise.withResolvers<void>();
  let tries = 0;
  const change = createThing(store, createActor(), 'late', async () => {
    tries += 1;
    entered.resolve();
    await pause(300);
  });
  await entered.promise;
  await store.close();
  await change;
  expect(tries).toBe(1);
  expect(await fixture.db.collection('things').countDocuments({ name: 'late' })).toBe(1);
  expect(await fixture.outbox()).toHaveLength(1);
});

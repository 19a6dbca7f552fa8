/** Tests that transactions with the same row lock run one after the other, also in several processes. */
import { expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import type { Store } from '#libs/store';
import { createActor, storeFixture, things } from '../testing/store-fixture.ts';

test('concurrent transactions with one lock each see what others added', async () => {
  const fixture = await storeFixture();
  const stores = [await fixture.open(), await fixture.open()] as [Store, Store];
  const actor = createActor();
  const { organization_id } = actor;
  // each transaction adds a row if it finds fewer than three
  const addIfFew = (store: Store) =>
    store.transact(actor, async (tx) => {
      await store.lockRow(organization_id, tx);
      const { session } = tx;
      const count = await store.rows(things).countDocuments({ organization_id }, { session });
      if (count < 3)
        await store
          .rows(things)
          .insertMany([{ _id: newId(), organization_id, name: newId() }], { session, lean: true });
      return count;
    });
  // the first ones also create the row of the lock
  const counts = await Promise.all(Array.from({ length: 8 }, (_, at) => addIfFew(stores[at % 2 ? 0 : 1])));
  expect(counts.sort()).toEqual([0, 1, 2, 3, 3, 3, 3, 3]);
  expect(await stores[0].rows(things).countDocuments({ organization_id })).toBe(3);
  await fixture.stop();
});

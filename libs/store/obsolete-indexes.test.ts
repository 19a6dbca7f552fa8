/** Tests that a migration drops the indexes that a collection declares as obsolete. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type StoreFixture, storeFixture, things } from '../testing/store-fixture.ts';

let fixture: StoreFixture;
const obsolete = { ...things, obsoleteIndexes: ['name_1'] };

beforeAll(async () => {
  fixture = await storeFixture();
});
afterAll(() => fixture?.stop());

const listIndexes = async () =>
  (await fixture.db.collection('things').indexes()).map(({ name }) => name).sort();

test('a migration drops an obsolete index, and has no effect without it', async () => {
  await fixture.db.collection('things').createIndex({ name: 1 }, { unique: true });
  await fixture.db.collection('things').createIndex({ secret: 1 });
  // several processes start at once
  await Promise.all(Array.from({ length: 3 }, () => fixture.open({ collections: [obsolete] })));
  const others = ['_id_', 'organization_id_1_name_1', 'secret_1'];
  expect(await listIndexes()).toEqual(others);
  await fixture.open({ collections: [obsolete] });
  expect(await listIndexes()).toEqual(others);
  expect(fixture.errors).toEqual([]);
});

/** Signing keys in MongoDB with concurrent replicas. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import { type StoreFixture, storeFixture } from '../../../libs/testing/store-fixture.ts';
import { signingKeys } from './collections.ts';
import { signingKeyRepository } from './signing-keys.ts';

let fixture: StoreFixture;
beforeAll(async () => {
  fixture = await storeFixture();
});
afterAll(() => fixture?.stop());

test('one of several replicas deletes a signing key', async () => {
  const startReplica = async () => signingKeyRepository(await fixture.open({ collections: [signingKeys] }));
  const replicas = await Promise.all([startReplica(), startReplica(), startReplica()]);
  const [_id, at] = [newId(), new Date()];
  await replicas[0]?.insert({
    _id,
    public_jwk: '{}',
    sealed_private: '',
    signs_from: at,
    created_at: at,
  });
  const deleted = await Promise.all(replicas.map((replica) => replica.delete(_id)));
  expect(deleted.filter(Boolean)).toHaveLength(1);
  expect(await replicas[0]?.list()).toEqual([]);
});

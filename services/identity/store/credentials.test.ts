/** Credentials in MongoDB with concurrent replicas. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import { type StoreFixture, storeFixture } from '../../../libs/testing/store-fixture.ts';
import { apiKeys, members, signingKeys } from './collections.ts';
import { credentialRepository } from './credentials.ts';

let fixture: StoreFixture;
beforeAll(async () => {
  fixture = await storeFixture();
});
afterAll(() => fixture?.stop());

test('one of several replicas deletes a signing key', async () => {
  const startReplica = async () =>
    credentialRepository(await fixture.open({ collections: [apiKeys, members, signingKeys] }));
  const replicas = await Promise.all([startReplica(), startReplica(), startReplica()]);
  const [_id, at] = [newId(), new Date()];
  await replicas[0]?.insertSigningKey({
    _id,
    public_jwk: '{}',
    sealed_private: '',
    signs_from: at,
    created_at: at,
  });
  const deleted = await Promise.all(replicas.map((replica) => replica.deleteSigningKey(_id)));
  expect(deleted.filter(Boolean)).toHaveLength(1);
  expect(await replicas[0]?.listSigningKeys()).toEqual([]);
});

/** Credentials in MongoDB, where replicas do the same at the same moment. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import { type StoreFixture, storeFixture } from '../../../libs/testing/store-fixture.ts';
import { apiKeys, members, signingKeys } from './collections.ts';
import { credentialRepository } from './credentials.ts';

let stage: StoreFixture;
beforeAll(async () => {
  stage = await storeFixture();
}, 60_000);
afterAll(() => stage?.stop());

test('of replicas that drop a signing key at once one has done it', async () => {
  const replica = async () =>
    credentialRepository(await stage.open({ collections: [apiKeys, members, signingKeys] }));
  const replicas = await Promise.all([replica(), replica(), replica()]);
  const [_id, at] = [newId(), new Date()];
  await replicas[0]?.insertSigningKey({
    _id,
    public_jwk: '{}',
    sealed_private: '',
    signs_from: at,
    created_at: at,
  });
  const dropped = await Promise.all(replicas.map((one) => one.deleteSigningKey(_id)));
  expect(dropped.filter(Boolean)).toHaveLength(1);
  expect(await replicas[0]?.listSigningKeys()).toEqual([]);
});

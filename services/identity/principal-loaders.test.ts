/** Loading principals over in-memory views: which requests share a read, and which row each of them gets. */
import { setImmediate } from 'node:timers/promises';
import { beforeEach, expect, test } from '@jest/globals';
import type { View } from '#libs/contract';
import type { Store } from '#libs/store';
import { createPrincipalLoaders, type PrincipalLoaders } from './principal-loaders.ts';
import { keyPrincipals } from './views.ts';

const keys = [{ hash: 'one' }, { hash: 'two' }];
const members = ['red', 'blue'].flatMap((organization_id) =>
  ['ada', 'ben'].map((user_id) => ({ organization_id, user_id })),
);
/** The hashes or user ids of each read. */
let reads: string[][];
let load: PrincipalLoaders;

beforeEach(() => {
  reads = [];
  // the fake implements only what the loaders use
  load = createPrincipalLoaders({ read } as unknown as Pick<Store, 'read'>);
});

function read(view: View) {
  const many = async ({ hash, user_id }: Record<string, { $in: string[] }>, organization?: string) => {
    const wanted = (hash ?? user_id)?.$in ?? [];
    reads.push(wanted);
    await setImmediate();
    return view === keyPrincipals
      ? keys.filter((key) => wanted.includes(key.hash))
      : members.filter((row) => row.organization_id === organization && wanted.includes(row.user_id));
  };
  const inOrganization = (organization: string) => ({
    many: (filter: Record<string, { $in: string[] }>) => many(filter, organization),
  });
  return { unscoped: () => ({ many }), in: inOrganization };
}

test('keys of the same turn are read together, each once', async () => {
  const hashes = ['two', 'none', 'one', 'two'];
  const rows = await Promise.all(hashes.map((hash) => load.loadKey(hash)));
  expect(rows.map((row) => row?.hash)).toEqual(['two', undefined, 'one', 'two']);
  expect(reads).toEqual([['two', 'none', 'one']]);
});

test('members are read together by organization', async () => {
  const wanted = [...members, { organization_id: 'blue', user_id: 'cid' }, ...members];
  const rows = await Promise.all(wanted.map((member) => load.loadMember(member)));
  expect(rows).toEqual([...members, undefined, ...members]);
  expect(reads).toEqual([
    ['ada', 'ben'],
    ['ada', 'ben', 'cid'],
  ]);
});

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
let failure: Error | undefined;
let load: PrincipalLoaders;

beforeEach(() => {
  [reads, failure] = [[], undefined];
  // the fake implements only what the loaders use
  load = createPrincipalLoaders({ read } as unknown as Pick<Store, 'read'>);
});

function read(view: View) {
  const many = async ({ hash, user_id }: Record<string, { $in: string[] }>, organization?: string) => {
    const wanted = (hash ?? user_id)?.$in ?? [];
    reads.push(wanted);
    await setImmediate();
    if (failure) throw failure;
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

test('keys of several callbacks of the same turn are read together', async () => {
  const first = load.loadKey('one');
  // as between the callbacks of two sockets
  for (let at = 0; at < 10; at += 1) await new Promise((resolve) => process.nextTick(resolve));
  await Promise.all([first, load.loadKey('two')]);
  expect(reads).toEqual([['one', 'two']]);
});

test('a key is read again for a request that arrives during the read', async () => {
  const first = load.loadKey('one');
  await setImmediate();
  expect(reads).toHaveLength(1);
  await Promise.all([first, load.loadKey('one')]);
  expect(reads).toEqual([['one'], ['one']]);
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

test('a failed read rejects the requests that shared it, and no later one', async () => {
  failure = new Error('no primary');
  const results = await Promise.allSettled(['one', 'two'].map((hash) => load.loadKey(hash)));
  expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  failure = undefined;
  expect(await load.loadKey('one')).toEqual({ hash: 'one' });
});

test('more than 100 keys of the same turn are read in several reads', async () => {
  await Promise.all(Array.from({ length: 150 }, (_, at) => load.loadKey(String(at))));
  expect(reads.map((wanted) => wanted.length)).toEqual([100, 50]);
});

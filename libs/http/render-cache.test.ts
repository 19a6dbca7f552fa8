/**
 * Tests for the render cache: consistent versions, bounded size, one rendering for concurrent requests, no
 * loss under eviction.
 */
import { expect, test } from '@jest/globals';
import { retainedBufferBytes } from '#libs/testing';
import { type RenderCache, renderCache } from './render-cache.ts';

type Render = () => Promise<Uint8Array | undefined>;

/** Creates a render function of `size` bytes that waits for `open` and counts its calls. */
function renderer(size: number) {
  const gate = Promise.withResolvers<void>();
  const calls = { count: 0 };
  const render = async () => {
    calls.count += 1;
    await gate.promise;
    return new Uint8Array(size);
  };
  return { calls, render, open: () => gate.resolve() };
}

/** Reads a resource that stays at one version; undefined if `render` says that it changed. */
const read = (cache: RenderCache, etag: string, render: Render) =>
  cache.read({ open: async () => ({ etag, render }), maxAttempts: 1 });

const readBytes = async (cache: RenderCache, etag: string, render: Render) =>
  (await read(cache, etag, render))?.bytes;

const isCached = async (cache: RenderCache, etag: string) =>
  (await read(cache, etag, async () => undefined)) !== undefined;

/** A resource whose version increases during its first `changes` renderings. */
function changingResource(changes: number) {
  const state = { version: 1, opened: 0 };
  const open = async () => {
    state.opened += 1;
    const { version } = state;
    const render = async () => {
      if (version <= changes) state.version += 1;
      return state.version === version ? Buffer.from(`version ${version}`) : undefined;
    };
    return { etag: `v${version}`, title: `Title ${version}`, render };
  };
  return { state, open };
}

test('a resource that changes while it is rendered is opened again', async () => {
  const cache = renderCache(10_000);
  const { state, open } = changingResource(2);
  const found = await cache.read({ open, maxAttempts: 5 });
  expect([found?.version.title, String(found?.bytes), found?.cacheStatus]).toEqual([
    'Title 3',
    'version 3',
    'miss',
  ]);
  expect(state.opened).toBe(3);
  expect([await isCached(cache, 'v2'), await isCached(cache, 'v3')]).toEqual([false, true]);
});

test('a resource that changes in every attempt is given up', async () => {
  const { state, open } = changingResource(100);
  expect(await renderCache(10_000).read({ open, maxAttempts: 5 })).toBeUndefined();
  expect(state.opened).toBe(5);
});

test('each read opens the resource, and a new version is rendered', async () => {
  const cache = renderCache(10_000);
  const { state, open } = changingResource(0);
  const readStatus = async () => {
    const found = await cache.read({ open, maxAttempts: 1 });
    return [String(found?.bytes), found?.cacheStatus];
  };
  expect(await readStatus()).toEqual(['version 1', 'miss']);
  expect(await readStatus()).toEqual(['version 1', 'hit']);
  state.version = 2;
  expect(await readStatus()).toEqual(['version 2', 'miss']);
  expect(state.opened).toBe(3);
});

test('a version that the client has is neither rendered nor cached', async () => {
  const cache = renderCache(10_000);
  const { calls, render, open: finish } = renderer(10);
  finish();
  const open = async () => ({ etag: 'a', render });
  const found = await cache.read({ open, call: { hasCurrent: (etag) => etag === 'a' }, maxAttempts: 1 });
  expect([found?.cacheStatus, found?.bytes.byteLength, calls.count]).toEqual(['not_modified', 0, 0]);
  expect(await isCached(cache, 'a')).toBe(false);
});

test('a cache key that differs from the ETag separates versions', async () => {
  const cache = renderCache(10_000);
  const readKey = async (cacheKey: string) => {
    const open = async () => ({ etag: '1', cacheKey, render: async () => Buffer.from(cacheKey) });
    return String((await cache.read({ open, maxAttempts: 1 }))?.bytes);
  };
  expect([await readKey('first'), await readKey('second')]).toEqual(['first', 'second']);
});

test('a resource that cannot be opened rejects', async () => {
  const open = async () => {
    throw new Error('not found');
  };
  const reading = renderCache(10_000).read({ open, maxAttempts: 5 });
  await expect(reading).rejects.toThrow('not found');
});

test('concurrent requests share one rendering, later ones hit the cache', async () => {
  const cache = renderCache(10_000);
  const { calls, render, open } = renderer(10);
  const requests = [1, 2, 3].map(() => read(cache, 'a', render));
  open();
  const [first, ...others] = await Promise.all(requests);
  for (const other of others) expect(other?.bytes).toBe(first?.bytes);
  expect([first, ...others].map((found) => found?.cacheStatus)).toEqual(['miss', 'hit', 'hit']);
  expect(await readBytes(cache, 'a', render)).toBe(first?.bytes);
  expect(calls.count).toBe(1);
});

test('the cache keeps the most recently used bytes within its limit', async () => {
  const cache = renderCache(10_000);
  const bytes = async () => new Uint8Array(3_000);
  for (const version of ['a', 'b', 'a', 'c']) await read(cache, version, bytes);
  expect([await isCached(cache, 'a'), await isCached(cache, 'b'), await isCached(cache, 'c')]).toEqual([
    true,
    false,
    true,
  ]);
});

test('the limit includes the objects of each entry', async () => {
  const cache = renderCache(1_000_000);
  for (let at = 0; at < 1_000; at += 1) await read(cache, `${at}`, async () => new Uint8Array(1));
  expect([await isCached(cache, '0'), await isCached(cache, '999')]).toEqual([false, true]);
});

test('the cache keeps at most 1,024 entries', async () => {
  const cache = renderCache(2 ** 30);
  for (let at = 0; at <= 1_024; at += 1) await read(cache, `${at}`, async () => new Uint8Array(1));
  expect([await isCached(cache, '0'), await isCached(cache, '1')]).toEqual([false, true]);
});

test('concurrent renderings beyond the limit all return their bytes', async () => {
  const cache = renderCache(10_000);
  const renderings = Array.from({ length: 20 }, (_, at) => ({ version: `${at}`, ...renderer(300) }));
  const requests = renderings.map(({ version, render }) => readBytes(cache, version, render));
  for (const { open } of renderings) open();
  expect((await Promise.all(requests)).map((bytes) => bytes?.byteLength)).toEqual(Array(20).fill(300));
  const huge = renderer(10_000);
  huge.open();
  expect((await readBytes(cache, 'huge', huge.render))?.byteLength).toBe(10_000);
  expect(await isCached(cache, 'huge')).toBe(false);
});

test('a failed rendering is not cached and is tried again', async () => {
  const cache = renderCache(10_000);
  const failing = async () => {
    throw new Error('no');
  };
  const requests = [read(cache, 'a', failing), read(cache, 'a', failing)];
  for (const request of requests) await expect(request).rejects.toThrow('no');
  expect(await isCached(cache, 'a')).toBe(false);
  expect((await readBytes(cache, 'a', async () => new Uint8Array(3)))?.byteLength).toBe(3);
});

test('cached bytes keep no other memory', async () => {
  const cache = renderCache(10_000_000);
  const count = 1_000;
  const before = retainedBufferBytes();
  for (let at = 0; at < count; at += 1)
    await read(cache, `${at}`, async () => {
      // parts that are joined, and do not remain
      const parts = Array.from({ length: 10 }, () => Buffer.from('x'.repeat(2_000)));
      return Buffer.from(Buffer.concat(parts).toString().slice(0, 1_000));
    });
  const retained = retainedBufferBytes() - before;
  expect(await isCached(cache, '0')).toBe(true);
  expect(retained).toBeLessThan(count * 1_100 + 200_000);
});

/**
 * Tests for the render cache: bounded size, one rendering for concurrent requests, no loss under eviction.
 */
import { expect, test } from '@jest/globals';
import { type RenderCache, renderCache } from './render-cache.ts';

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

const isCached = async (cache: RenderCache<Uint8Array>, version: string) =>
  (await cache.getOrRender(version, async () => undefined)) !== undefined;

test('concurrent requests share one rendering, later ones hit the cache', async () => {
  const cache = renderCache(1_000);
  const { calls, render, open } = renderer(10);
  const requests = [1, 2, 3].map(() => cache.getOrRender('a', render));
  open();
  const [first, ...others] = await Promise.all(requests);
  for (const other of others) expect(other).toBe(first);
  expect(await cache.getOrRender('a', render)).toBe(first);
  expect(calls.count).toBe(1);
});

test('the cache keeps the most recently used bytes within its limit', async () => {
  const cache = renderCache(1_000);
  const bytes = async () => new Uint8Array(400);
  for (const version of ['a', 'b', 'a', 'c']) await cache.getOrRender(version, bytes);
  expect([await isCached(cache, 'a'), await isCached(cache, 'b'), await isCached(cache, 'c')]).toEqual([
    true,
    false,
    true,
  ]);
});

test('concurrent renderings beyond the limit all return their bytes', async () => {
  const cache = renderCache(1_000);
  const renderings = Array.from({ length: 20 }, (_, at) => ({ version: `${at}`, ...renderer(300) }));
  const requests = renderings.map(({ version, render }) => cache.getOrRender(version, render));
  for (const { open } of renderings) open();
  expect((await Promise.all(requests)).map((bytes) => bytes?.byteLength)).toEqual(Array(20).fill(300));
  const huge = renderer(5_000);
  huge.open();
  expect((await cache.getOrRender('huge', huge.render))?.byteLength).toBe(5_000);
  expect(await isCached(cache, 'huge')).toBe(false);
});

test('a failed rendering is not cached and is tried again', async () => {
  const cache = renderCache(1_000);
  const failing = async () => {
    throw new Error('no');
  };
  const requests = [cache.getOrRender('a', failing), cache.getOrRender('a', failing)];
  for (const request of requests) await expect(request).rejects.toThrow('no');
  expect(await cache.getOrRender('a', async () => undefined)).toBeUndefined();
  expect((await cache.getOrRender('a', async () => new Uint8Array(3)))?.byteLength).toBe(3);
});

/**
 * Bytes in memory: never more than allowed, never rendered twice at once, never lost to others that need
 * room.
 */
import { expect, test } from '@jest/globals';
import { type RenderCache, renderCache } from './render-cache.ts';

/** Renders so many bytes when it is told to, and counts how often it was asked. */
function renderer(size: number) {
  const gate = Promise.withResolvers<void>();
  const seen = { asked: 0 };
  const render = async () => {
    seen.asked += 1;
    await gate.promise;
    return new Uint8Array(size);
  };
  return { seen, render, open: () => gate.resolve() };
}

const isKept = async (memory: RenderCache<Uint8Array>, version: string) =>
  (await memory.getOrRender(version, async () => undefined)) !== undefined;

test('many who ask at once get the same bytes, rendered once; later ones get them from memory', async () => {
  const memory = renderCache(1_000);
  const { seen, render, open } = renderer(10);
  const asked = [1, 2, 3].map(() => memory.getOrRender('a', render));
  open();
  const [first, ...others] = await Promise.all(asked);
  for (const other of others) expect(other).toBe(first);
  expect(await memory.getOrRender('a', render)).toBe(first);
  expect(seen.asked).toBe(1);
});

test('at most so many bytes are kept, those that were asked for last', async () => {
  const memory = renderCache(1_000);
  const bytes = async () => new Uint8Array(400);
  for (const version of ['a', 'b', 'a', 'c']) await memory.getOrRender(version, bytes);
  expect([await isKept(memory, 'a'), await isKept(memory, 'b'), await isKept(memory, 'c')]).toEqual([
    true,
    false,
    true,
  ]);
});

test('more at once than there is room for are all given', async () => {
  const memory = renderCache(1_000);
  const works = Array.from({ length: 20 }, (_, at) => ({ version: `${at}`, ...renderer(300) }));
  const asked = works.map(({ version, render }) => memory.getOrRender(version, render));
  for (const { open } of works) open();
  expect((await Promise.all(asked)).map((bytes) => bytes?.byteLength)).toEqual(Array(20).fill(300));
  const huge = renderer(5_000);
  huge.open();
  expect((await memory.getOrRender('huge', huge.render))?.byteLength).toBe(5_000);
  expect(await isKept(memory, 'huge')).toBe(false);
});

test('what cannot be rendered is not kept, and tried again', async () => {
  const memory = renderCache(1_000);
  const failing = async () => {
    throw new Error('no');
  };
  const asked = [memory.getOrRender('a', failing), memory.getOrRender('a', failing)];
  for (const one of asked) await expect(one).rejects.toThrow('no');
  expect(await memory.getOrRender('a', async () => undefined)).toBeUndefined();
  expect((await memory.getOrRender('a', async () => new Uint8Array(3)))?.byteLength).toBe(3);
});

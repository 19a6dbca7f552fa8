/** Tests written zip archives: reproducible bytes, and parts that depend on earlier parts. */
import { expect, test } from '@jest/globals';
import { pack } from './pack.ts';
import { unpack } from './unpack.ts';

test('a part may depend on text generated for an earlier part', async () => {
  let result = '';
  function* parts(): Generator<[string, Uint8Array | (() => Iterable<string>)]> {
    yield [
      'a',
      () => {
        result = 'done';
        return ['x'.repeat(300_000), 'é'];
      },
    ];
    yield ['b', Buffer.from(result)];
  }
  const found = await unpack(await pack(parts()));
  expect(Buffer.from(found.get('a') ?? []).toString()).toBe(`${'x'.repeat(300_000)}é`);
  expect(Buffer.from(found.get('b') ?? []).toString()).toBe('done');
});

test('a packed file contains a fixed timestamp', async () => {
  const file = await pack([['a', Buffer.from('x')]]);
  expect(file.readUInt16LE(10)).toBe(0);
  expect(file.readUInt16LE(12)).toBe(0b0000000_0001_00001);
});

test('pack stores pictures uncompressed and compresses text', async () => {
  const file = await pack([
    ['a.png', Buffer.alloc(1_000)],
    ['b.xml', Buffer.alloc(1_000)],
  ]);
  expect(file.length).toBeGreaterThan(1_000);
  expect(file.length).toBeLessThan(1_500);
});

test('pack rejects if the generator of a part throws', async () => {
  const broken = () => ({
    *[Symbol.iterator](): Generator<string> {
      yield 'x';
      throw new Error('no more');
    },
  });
  await expect(pack([['a', broken]])).rejects.toThrow('no more');
});

/** Promises about written zips: the same bytes each time, and parts that may depend on earlier ones. */
import { expect, test } from '@jest/globals';
import { pack } from './pack.ts';
import { unpack } from './unpack.ts';

test('a part made from text may be told by what came before it', async () => {
  let made = '';
  function* parts(): Generator<[string, Uint8Array | (() => Iterable<string>)]> {
    yield [
      'a',
      () => {
        made = 'done';
        return ['x'.repeat(300_000), 'é'];
      },
    ];
    yield ['b', Buffer.from(made)];
  }
  const found = await unpack(await pack(parts()));
  expect(Buffer.from(found.get('a') ?? []).toString()).toBe(`${'x'.repeat(300_000)}é`);
  expect(Buffer.from(found.get('b') ?? []).toString()).toBe('done');
});

test('no moment is written into the file', async () => {
  const file = await pack([['a', Buffer.from('x')]]);
  expect(file.readUInt16LE(10)).toBe(0);
  expect(file.readUInt16LE(12)).toBe(0b0000000_0001_00001);
});

test('pictures are stored as they are, text is compressed', async () => {
  const file = await pack([
    ['a.png', Buffer.alloc(1_000)],
    ['b.xml', Buffer.alloc(1_000)],
  ]);
  expect(file.length).toBeGreaterThan(1_000);
  expect(file.length).toBeLessThan(1_500);
});

test('a mistake while writing is a mistake, not a wait without end', async () => {
  const broken = () => ({
    *[Symbol.iterator](): Generator<string> {
      yield 'x';
      throw new Error('no more');
    },
  });
  await expect(pack([['a', broken]])).rejects.toThrow('no more');
});

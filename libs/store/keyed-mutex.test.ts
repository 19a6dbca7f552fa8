/** Tests of the keyed mutex. */
import { expect, test } from '@jest/globals';
import { keyedMutex } from './keyed-mutex.ts';

test('work with the same key runs one at a time in the order of the calls', async () => {
  const withLock = keyedMutex();
  const seen: string[] = [];
  const work = (name: string) => async () => {
    seen.push(`${name} starts`);
    await new Promise((resolve) => setImmediate(resolve));
    seen.push(`${name} ends`);
    return name;
  };
  const results = await Promise.all(['a', 'b', 'c'].map((name) => withLock('key', work(name))));
  expect(results).toEqual(['a', 'b', 'c']);
  expect(seen).toEqual(['a starts', 'a ends', 'b starts', 'b ends', 'c starts', 'c ends']);
});

test('work with another key does not wait', async () => {
  const withLock = keyedMutex();
  const gate = Promise.withResolvers<void>();
  const slow = withLock('one', () => gate.promise);
  expect(await withLock('other', async () => 'done')).toBe('done');
  gate.resolve();
  await slow;
});

test('work that fails rejects for its caller only, and the next work runs', async () => {
  const withLock = keyedMutex();
  const failing = withLock('key', () => Promise.reject(new Error('no')));
  const next = withLock('key', async () => 'yes');
  await expect(failing).rejects.toThrow('no');
  expect(await next).toBe('yes');
});

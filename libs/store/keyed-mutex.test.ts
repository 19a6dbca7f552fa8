/** One after the other, by key. */
import { expect, test } from '@jest/globals';
import { keyedMutex } from './keyed-mutex.ts';

test('work for one key is done one after the other, in the order of asking', async () => {
  const withLock = keyedMutex();
  const seen: string[] = [];
  const work = (name: string) => async () => {
    seen.push(`${name} begins`);
    await new Promise((resolve) => setImmediate(resolve));
    seen.push(`${name} ends`);
    return name;
  };
  const results = await Promise.all(['a', 'b', 'c'].map((name) => withLock('key', work(name))));
  expect(results).toEqual(['a', 'b', 'c']);
  expect(seen).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
});

test('work for other keys does not wait', async () => {
  const withLock = keyedMutex();
  const gate = Promise.withResolvers<void>();
  const slow = withLock('one', () => gate.promise);
  expect(await withLock('other', async () => 'done')).toBe('done');
  gate.resolve();
  await slow;
});

test('work that fails tells its own asker, and the next goes on', async () => {
  const withLock = keyedMutex();
  const failing = withLock('key', () => Promise.reject(new Error('no')));
  const next = withLock('key', async () => 'yes');
  await expect(failing).rejects.toThrow('no');
  expect(await next).toBe('yes');
});

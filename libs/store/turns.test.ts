/** One after the other, by key. */
import { expect, test } from '@jest/globals';
import { turns } from './turns.ts';

test('work for one key is done one after the other, in the order of asking', async () => {
  const inTurn = turns();
  const seen: string[] = [];
  const work = (name: string) => async () => {
    seen.push(`${name} begins`);
    await new Promise((resolve) => setImmediate(resolve));
    seen.push(`${name} ends`);
    return name;
  };
  const results = await Promise.all(['a', 'b', 'c'].map((name) => inTurn('key', work(name))));
  expect(results).toEqual(['a', 'b', 'c']);
  expect(seen).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends']);
});

test('work for other keys does not wait', async () => {
  const inTurn = turns();
  const gate = Promise.withResolvers<void>();
  const slow = inTurn('one', () => gate.promise);
  expect(await inTurn('other', async () => 'done')).toBe('done');
  gate.resolve();
  await slow;
});

test('work that fails tells its own asker, and the next goes on', async () => {
  const inTurn = turns();
  const failing = inTurn('key', () => Promise.reject(new Error('no')));
  const next = inTurn('key', async () => 'yes');
  await expect(failing).rejects.toThrow('no');
  expect(await next).toBe('yes');
});

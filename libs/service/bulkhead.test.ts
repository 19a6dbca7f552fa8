/** What a bulkhead lets through, keeps waiting and refuses. */
import { expect, test } from '@jest/globals';
import { bulkhead } from '#libs/service';

const createError = () => new Error('full');

/** Work that goes on until it is told to end. */
function stage(limits: { maxConcurrent: number; maxQueue: number }) {
  const withinLimit = bulkhead({ ...limits, createError });
  const begun: string[] = [];
  const ends = new Map<string, () => void>();
  const work = (name: string, signal?: AbortSignal) =>
    withinLimit(() => {
      begun.push(name);
      return new Promise<string>((resolve) => ends.set(name, () => resolve(name)));
    }, signal);
  return { work, begun, end: (name: string) => ends.get(name)?.(), withinLimit };
}

test('so much is done at once, the rest in its order', async () => {
  const { work, begun, end } = stage({ maxConcurrent: 2, maxQueue: 2 });
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((name) => work(name));
  expect(begun).toEqual(['a', 'b']);
  end('b');
  expect(await b).toBe('b');
  expect(begun).toEqual(['a', 'b', 'c']);
  end('a');
  await a;
  expect(begun).toEqual(['a', 'b', 'c', 'd']);
  end('c');
  end('d');
  expect(await Promise.all([c, d])).toEqual(['c', 'd']);
});

test('whoever finds too many waiting is refused, and there is room again later', async () => {
  const { work, end } = stage({ maxConcurrent: 1, maxQueue: 1 });
  const first = work('first');
  const second = work('second');
  await expect(work('third')).rejects.toThrow('full');
  end('first');
  await first;
  const fourth = work('fourth');
  end('second');
  await second;
  end('fourth');
  expect(await fourth).toBe('fourth');
});

test('work that fails gives its place to the next', async () => {
  const { withinLimit } = stage({ maxConcurrent: 1, maxQueue: 1 });
  const failed = expect(withinLimit(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await withinLimit(async () => 'next')).toBe('next');
  await failed;
});

test('whoever stops waiting leaves the queue, and its place is free', async () => {
  const { work, begun, end } = stage({ maxConcurrent: 1, maxQueue: 1 });
  const first = work('first');
  const giving = new AbortController();
  const left = expect(work('second', giving.signal)).rejects.toThrow('enough');
  giving.abort(new Error('enough'));
  await left;
  await expect(work('second', giving.signal)).rejects.toThrow('enough');
  const third = work('third');
  end('first');
  await first;
  end('third');
  expect(await third).toBe('third');
  expect(begun).toEqual(['first', 'third']);
});

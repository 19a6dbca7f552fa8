/** Tests for the bulkhead: concurrent work, the queue, rejection and cancellation. */
import { expect, test } from '@jest/globals';
import { bulkhead } from '#libs/workers';

const createError = () => new Error('full');

/** Creates work that runs until `end` is called with its name. */
function bulkheadFixture(limits: { maxConcurrent: number; maxQueue: number }) {
  const withinLimit = bulkhead({ ...limits, createError });
  const started: string[] = [];
  const ends = new Map<string, () => void>();
  const work = (name: string, signal?: AbortSignal) =>
    withinLimit(() => {
      started.push(name);
      return new Promise<string>((resolve) => ends.set(name, () => resolve(name)));
    }, signal);
  return { work, started, end: (name: string) => ends.get(name)?.(), withinLimit };
}

test('work over the limit runs in order of arrival', async () => {
  const { work, started, end } = bulkheadFixture({ maxConcurrent: 2, maxQueue: 2 });
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((name) => work(name));
  expect(started).toEqual(['a', 'b']);
  end('b');
  expect(await b).toBe('b');
  expect(started).toEqual(['a', 'b', 'c']);
  end('a');
  await a;
  expect(started).toEqual(['a', 'b', 'c', 'd']);
  end('c');
  end('d');
  expect(await Promise.all([c, d])).toEqual(['c', 'd']);
});

test('work is rejected while the queue is full and accepted later', async () => {
  const { work, end } = bulkheadFixture({ maxConcurrent: 1, maxQueue: 1 });
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

test('failed work frees its slot for the next', async () => {
  const { withinLimit } = bulkheadFixture({ maxConcurrent: 1, maxQueue: 1 });
  const failed = expect(withinLimit(() => Promise.reject(new Error('no')))).rejects.toThrow('no');
  expect(await withinLimit(async () => 'next')).toBe('next');
  await failed;
});

test('aborted work leaves the queue and frees its position', async () => {
  const { work, started, end } = bulkheadFixture({ maxConcurrent: 1, maxQueue: 1 });
  const first = work('first');
  const controller = new AbortController();
  const left = expect(work('second', controller.signal)).rejects.toThrow('aborted');
  controller.abort(new Error('aborted'));
  await left;
  await expect(work('second', controller.signal)).rejects.toThrow('aborted');
  const third = work('third');
  end('first');
  await first;
  end('third');
  expect(await third).toBe('third');
  expect(started).toEqual(['first', 'third']);
});

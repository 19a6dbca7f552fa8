/** Tests for the bulkhead: concurrent work, the queue, rejection and cancellation. */
import { expect, test } from '@jest/globals';
import { until } from '#libs/testing';
import { bulkhead } from '#libs/workers';

const createError = () => new Error('full');

/** Creates work that runs until `end` is called with its name. */
function bulkheadFixture(limits: { maxConcurrent: number; maxQueue: number; maxQueuePerClient?: number }) {
  const withinLimit = bulkhead({ ...limits, createError });
  const started: string[] = [];
  const ends = new Map<string, () => void>();
  const work = (name: string, signal?: AbortSignal, client?: string) =>
    withinLimit(
      () => {
        started.push(name);
        return new Promise<string>((resolve) => ends.set(name, () => resolve(name)));
      },
      signal,
      client,
    );
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

test('clients take turns, and a new one is next', async () => {
  const { work, started, end } = bulkheadFixture({ maxConcurrent: 1, maxQueue: 10 });
  const run = (name: string) => work(name, undefined, name[0]);
  const all = ['a1', 'a2', 'a3', 'a4', 'b1', 'b2', 'c1'].map(run);
  for (let at = 0; at < all.length; at += 1) {
    await until('the next work runs', async () => started.length > at);
    end(started[at] ?? '');
  }
  await Promise.all(all);
  expect(started).toEqual(['a1', 'b1', 'a2', 'c1', 'b2', 'a3', 'a4']);
});

test('a client that fills its part of the queue leaves the rest to others', async () => {
  const { work, started, end } = bulkheadFixture({ maxConcurrent: 1, maxQueue: 3, maxQueuePerClient: 2 });
  const run = (name: string) => work(name, undefined, name[0]);
  const accepted = ['a1', 'a2', 'a3'].map(run);
  await expect(run('a4')).rejects.toThrow('full');
  accepted.push(run('b1'));
  await expect(run('c1')).rejects.toThrow('full');
  for (const name of ['a1', 'b1', 'a2', 'a3']) {
    await until('it runs', async () => started.includes(name));
    end(name);
  }
  expect(await Promise.all(accepted)).toEqual(['a1', 'a2', 'a3', 'b1']);
});

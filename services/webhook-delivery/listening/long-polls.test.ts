/** Tests what ends a long poll, and that all of a process share one query. */
import { describe, expect, test } from '@jest/globals';
import { until } from '#libs/testing';
import { createLongPolls } from './long-polls.ts';

const anHour = 3_600_000;
const connected = new AbortController().signal;

/** Creates long polls, and records the queries. `listenersWithEvents` can change. */
function createFixture(listenersWithEvents: string[] = [], error?: Error) {
  const queries: (readonly string[])[] = [];
  const longPolls = createLongPolls(async (ids) => {
    queries.push(ids);
    if (error) throw error;
    return listenersWithEvents.filter((id) => ids.includes(id));
  });
  const wait = (listenerId: string, more: { ms?: number; signal?: AbortSignal } = {}) =>
    longPolls.wait({ listenerId, ms: anHour, signal: connected, ...more });
  return { longPolls, wait, queries };
}

describe('a long poll ends', () => {
  test('when its listener has an event, and no other one does', async () => {
    const listenersWithEvents: string[] = [];
    const { longPolls, wait, queries } = createFixture(listenersWithEvents);
    const ended = wait('a');
    const other = wait('b');
    await until('two queries', async () => queries.length >= 2);
    expect(longPolls.count()).toBe(2);
    listenersWithEvents.push('a');
    await ended;
    expect(longPolls.count()).toBe(1);
    longPolls.drain();
    await other;
  });

  test('after its time', async () => {
    const { wait, queries } = createFixture();
    await wait('a', { ms: 1 });
    expect(queries).toEqual([]);
  });

  test('when the client disconnects', async () => {
    const client = new AbortController();
    const { longPolls, wait } = createFixture();
    const ended = wait('a', { signal: client.signal });
    client.abort();
    await ended;
    await wait('a', { signal: client.signal });
    expect(longPolls.count()).toBe(0);
  });

  test('when another request waits for the same listener', async () => {
    const { longPolls, wait } = createFixture();
    const first = wait('a');
    const second = wait('a');
    await first;
    expect(longPolls.count()).toBe(1);
    longPolls.drain();
    await second;
    expect(longPolls.count()).toBe(0);
  });

  test('when MongoDB cannot be queried', async () => {
    await createFixture([], new Error('down')).wait('a');
  });

  test('when the process stops, and no other one waits', async () => {
    const { longPolls, wait } = createFixture();
    const ended = wait('a');
    longPolls.drain();
    await ended;
    await wait('a');
  });
});

test('all long polls share one query', async () => {
  const { longPolls, wait, queries } = createFixture();
  const ended = Promise.all([wait('a'), wait('b'), wait('c')]);
  await until('a query', async () => queries.length > 0);
  expect(queries[0]).toEqual(['a', 'b', 'c']);
  longPolls.drain();
  await ended;
});

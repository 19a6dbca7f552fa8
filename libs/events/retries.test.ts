/** Tests of the retries of an event handler. */
import { expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import { DependencyUnavailable, tryHandling } from './retries.ts';

const event = {
  id: newId(),
  type: 'thing.made',
  occurred_at: new Date().toISOString(),
  organization_id: newId(),
  actor_id: null,
  data: {},
};

test('an attempt that fails with DependencyUnavailable is not counted', async () => {
  const { signal } = new AbortController();
  const errors = [
    new DependencyUnavailable(new Error('the database is down')),
    new Error('the handler failed'),
    undefined,
  ];
  let tries = 0;
  const handler = async () => {
    const error = errors[tries];
    tries += 1;
    if (error) throw error;
  };
  await tryHandling(handler, event, [1], signal);
  expect(tries).toBe(3);
});

test('waiting for a dependency rejects when the bus closes', async () => {
  const closing = new AbortController();
  const handler = () => Promise.reject(new DependencyUnavailable(new Error('the database is down')));
  const handled = tryHandling(handler, event, [], closing.signal);
  closing.abort(new Error('the bus closes'));
  await expect(handled).rejects.toThrow('the bus closes');
});

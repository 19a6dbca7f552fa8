/** How often a handler is tried, and what is no fault of the event. */
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

test('a handler that cannot work right now uses up no try', async () => {
  const { signal } = new AbortController();
  const errors = [
    new DependencyUnavailable(new Error('the database is away')),
    new Error('its own fault'),
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
}, 10_000);

test('who waits until it can work is told of the end', async () => {
  const closing = new AbortController();
  const handler = () => Promise.reject(new DependencyUnavailable(new Error('the database is away')));
  const trying = tryHandling(handler, event, [], closing.signal);
  closing.abort(new Error('the bus closes'));
  await expect(trying).rejects.toThrow('the bus closes');
});

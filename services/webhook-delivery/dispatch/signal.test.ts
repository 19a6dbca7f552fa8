/** Tests that a signal wakes its loop. */
import { expect, test } from '@jest/globals';
import { createSignal } from './signal.ts';

test('a notification before the wait ends the wait', async () => {
  const signal = createSignal();
  signal.notify();
  signal.notify();
  await signal.wait();
  const order: string[] = [];
  const waiting = signal.wait().then(() => order.push('woken'));
  order.push('notified');
  signal.notify();
  await waiting;
  expect(order).toEqual(['notified', 'woken']);
});

test('a wait ends at its time limit', async () => {
  const signal = createSignal();
  await signal.wait(1);
});

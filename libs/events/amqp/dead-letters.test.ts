/** Tests that counts and lists leave no channel open. */
import { expect, test } from '@jest/globals';
import type { ChannelModel } from 'amqplib';
import { countMessages, peekDeadLetters } from './dead-letters.ts';

/** A connection whose broker never counts. `get` sends a message; by default it fails. */
function createSlowModel(get: () => Promise<unknown> = () => Promise.reject(new Error('lost'))) {
  const counts = { opened: 0, closed: 0 };
  const channel = {
    on: () => channel,
    once: () => channel,
    checkQueue: () => new Promise(() => undefined),
    get,
    async close() {
      counts.closed += 1;
    },
  };
  const model = {
    async createChannel() {
      counts.opened += 1;
      return channel;
    },
  };
  // only what is used here
  return { counts, model: model as unknown as ChannelModel };
}

test('a count without a response closes its channel', async () => {
  const { counts, model } = createSlowModel();
  await expect(countMessages(model, 'q', 'q.retry', 'q.dead')).rejects.toThrow('no response within 2 s');
  expect(counts).toEqual({ opened: 1, closed: 1 });
});

test('a list that fails closes its channel', async () => {
  const { counts, model } = createSlowModel();
  await expect(peekDeadLetters(model, 'q.dead')).rejects.toThrow('lost');
  expect(counts).toEqual({ opened: 1, closed: 1 });
});

test.each([
  { count: 1_000, isComplete: true },
  { count: 1_001, isComplete: false },
])('a list of $count dead letters says whether it is complete', async ({ count, isComplete }) => {
  let left = count;
  const { model } = createSlowModel(async () => left-- > 0 && { content: Buffer.from('{}') });
  const list = await peekDeadLetters(model, 'q.dead');
  expect([list.events.length, list.isComplete]).toEqual([1_000, isComplete]);
});

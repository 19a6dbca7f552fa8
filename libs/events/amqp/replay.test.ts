/** Tests the batches of a replay of dead letters, with a broker in memory. */
import { expect, test } from '@jest/globals';
import type { ChannelModel } from 'amqplib';
import { replayDeadLetters } from './replay.ts';

interface TestMessage {
  content: Buffer;
  properties: { messageId: string };
}

/** A connection to a broker with `count` dead letters. `onSent` may make a sent message a dead letter again. */
function createModel(count: number, onSent: (message: TestMessage, dead: TestMessage[]) => void) {
  const dead: TestMessage[] = Array.from({ length: count }, (_, at) => ({
    content: Buffer.from('{}'),
    properties: { messageId: `${at}` },
  }));
  const sent: string[] = [];
  const counts = { unacknowledged: 0, most: 0 };
  const channel = {
    on: () => channel,
    async get() {
      const message = dead.shift();
      if (!message) return false;
      counts.unacknowledged += 1;
      counts.most = Math.max(counts.most, counts.unacknowledged);
      return message;
    },
    sendToQueue(_queue: string, content: Buffer, { messageId }: { messageId: string }) {
      onSent({ content, properties: { messageId } }, dead);
      sent.push(messageId);
    },
    waitForConfirms: async () => undefined,
    ack() {
      counts.unacknowledged -= 1;
    },
    close: async () => undefined,
  };
  // only what is used here
  const model = { createConfirmChannel: async () => channel } as unknown as ChannelModel;
  return { model, sent, counts };
}

const queues = { queue: 'q.dead', target: 'q' };
const ids = (count: number) => Array.from({ length: count }, (_, at) => `${at}`);

test('a replay has at most 1,000 messages in memory', async () => {
  const { model, sent, counts } = createModel(2_500, () => undefined);
  expect(await replayDeadLetters(model, queues)).toEqual(ids(2_500));
  expect(sent).toEqual(ids(2_500));
  expect(counts).toEqual({ unacknowledged: 0, most: 1_000 });
});

test('a replay does not repeat events that become dead letters again', async () => {
  const again = new Set<string>();
  const { model, sent, counts } = createModel(1_500, (message, dead) => {
    // at most once, so that the test ends if they are repeated
    if (!again.has(message.properties.messageId)) dead.push(message);
    again.add(message.properties.messageId);
  });
  expect(await replayDeadLetters(model, queues)).toEqual(ids(1_500));
  expect(sent).toEqual(ids(1_500));
  // they return to the dead letters when the channel closes
  expect(counts.unacknowledged).toBe(1_500);
});

test('a replay of one id leaves the other dead letters', async () => {
  const { model, sent, counts } = createModel(1_200, () => undefined);
  expect(await replayDeadLetters(model, { ...queues, ids: new Set(['1100']) })).toEqual(['1100']);
  expect(sent).toEqual(['1100']);
  expect(counts.unacknowledged).toBe(1_199);
});

test('a replay that fails has reported the events that it replayed', async () => {
  const { model } = createModel(600, ({ properties }) => {
    if (properties.messageId === '500') throw new Error('lost');
  });
  const reported: string[] = [];
  const replayed = replayDeadLetters(model, { ...queues, onReplayed: (id) => reported.push(id) });
  await expect(replayed).rejects.toThrow('lost');
  expect(reported).toEqual(ids(500));
});

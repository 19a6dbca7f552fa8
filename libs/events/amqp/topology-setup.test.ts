/** Tests that an event reaches all of its queues or none, also while the topology is being declared. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type ChannelModel, type ConfirmChannel, connect } from 'amqplib';
import { type AmqpFixture, amqpFixture, fixtureTopology } from '../../testing/amqp-fixture.ts';
import { type TestRabbit, testRabbit } from '../../testing/rabbit.ts';
import { declareTopology, type Names, prefixedNames } from './topology-setup.ts';

let rabbit: TestRabbit;
let fixture: AmqpFixture;
let names: Names;
let connection: ChannelModel;
let publisher: ConfirmChannel;
beforeAll(async () => {
  rabbit = await testRabbit();
  fixture = amqpFixture(rabbit.url);
  names = prefixedNames(fixture.prefix);
  connection = await connect(rabbit.url);
  publisher = await connection.createConfirmChannel();
}, 400_000);
afterAll(async () => {
  await connection?.close();
  await fixture?.clear();
  await rabbit?.stop();
});

/** Publishes an event that belongs into both queues. */
async function publish(): Promise<void> {
  publisher.publish(names.exchange, 'thing.made', Buffer.from('{}'));
  await publisher.waitForConfirms();
}

/** Returns a connection whose channels publish an event before each request, once the exchange exists. */
function publishBetweenRequests(): ChannelModel {
  const createChannel = async () => {
    const channel = await connection.createChannel();
    let hasExchange = false;
    return new Proxy(channel, {
      get(target, property) {
        const value: unknown = Reflect.get(target, property);
        if (typeof value !== 'function') return value;
        if (!/^(assert|bind)/.test(String(property))) return value.bind(target);
        return async (...args: unknown[]) => {
          if (hasExchange) await publish();
          hasExchange ||= property === 'assertExchange' && args[0] === names.exchange;
          return value.apply(target, args);
        };
      },
    });
  };
  return new Proxy(connection, {
    get: (target, property) =>
      property === 'createChannel' ? createChannel : Reflect.get(target, property).bind(target),
  });
}

test.each([
  ['for the first time', undefined],
  ['after an exchange was deleted', 'exchange'],
  ['after the exchange of the queues was deleted', 'queueExchange'],
] as const)('an event reaches all queues or none while they are declared %s', async (_when, deleted) => {
  if (deleted) await publisher.deleteExchange(names[deleted]);
  await declareTopology(publishBetweenRequests(), fixtureTopology, names);
  await publish();
  const alpha = await publisher.purgeQueue(names.queue('alpha'));
  const beta = await publisher.purgeQueue(names.queue('beta'));
  expect(alpha.messageCount).toBeGreaterThan(0);
  expect(beta).toEqual(alpha);
});

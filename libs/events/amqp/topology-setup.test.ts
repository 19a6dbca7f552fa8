/** Tests that an event reaches all of its queues or none, also while the topology is being declared. */
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { type ChannelModel, type ConfirmChannel, connect } from 'amqplib';
import { deleteQueues } from '../../testing/amqp-fixture.ts';
import { type TestRabbit, testRabbit } from '../../testing/rabbit.ts';
import { declareTopology, prefixedNames } from './topology-setup.ts';

const topology = new Map([
  ['alpha', ['thing.gone', 'thing.made']],
  ['beta', ['thing.made']],
]);
const names = prefixedNames('topology-setup.');

let rabbit: TestRabbit;
let connection: ChannelModel;
let publisher: ConfirmChannel;
beforeAll(async () => {
  rabbit = await testRabbit();
  connection = await connect(rabbit.url);
  publisher = await connection.createConfirmChannel();
}, 400_000);
afterAll(async () => {
  if (publisher) await deleteQueues(publisher, 'topology-setup.', [...topology.keys()]);
  await connection?.close();
  await rabbit?.stop();
});

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
          if (hasExchange) {
            publisher.publish(names.exchange, 'thing.made', Buffer.from('{}'));
            await publisher.waitForConfirms();
          }
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
  ['for the first time', []],
  ['after an exchange was deleted', [names.exchange]],
  ['after the exchange of the queues was deleted', [names.queueExchange]],
])('an event reaches all queues or none while they are declared %s', async (_when, deleted) => {
  for (const exchange of deleted) await publisher.deleteExchange(exchange);
  await declareTopology(publishBetweenRequests(), topology, names);
  publisher.publish(names.exchange, 'thing.made', Buffer.from('{}'));
  await publisher.waitForConfirms();
  const [alpha, beta] = [
    await publisher.purgeQueue('topology-setup.alpha'),
    await publisher.purgeQueue('topology-setup.beta'),
  ];
  expect(alpha.messageCount).toBeGreaterThan(0);
  expect(beta).toEqual(alpha);
});

/** The in-process bus keeps the promises of every bus, and those of its own. */
import { describe, expect, test } from '@jest/globals';
import { type Envelope, newId } from '#libs/contract';
import { busConformance } from '../testing/bus-conformance.ts';
import { DeadLettered } from './bus.ts';
import { memoryBus } from './memory-bus.ts';
import { UnrecoverableError } from './retries.ts';

busConformance('the in-process bus', async ({ topology, retries }) => {
  const buses = [memoryBus(topology, { retries })];
  const [bus] = buses;
  if (!bus) throw new Error('There is a first one');
  return {
    bus,
    async reopen() {
      const next = memoryBus(topology, { retries });
      buses.push(next);
      return next;
    },
    async end() {
      await Promise.all(buses.map((one) => one.close()));
    },
  };
});

describe('the in-process bus takes an event when it is handled', () => {
  const topology = new Map([
    ['alpha', ['thing.made']],
    ['beta', ['thing.made']],
  ]);
  const one: Envelope = {
    id: newId(),
    type: 'thing.made',
    occurred_at: new Date().toISOString(),
    organization_id: newId(),
    actor_id: null,
    data: {},
  };

  test('publish resolves only when every queue has handled the event', async () => {
    const bus = memoryBus(topology);
    const handled: string[] = [];
    const published = bus.publish(one).then(() => handled.length);
    await bus.consume('alpha', async () => void handled.push('alpha'), { prefetch: 1 });
    await bus.consume('beta', async () => void handled.push('beta'), { prefetch: 1 });
    expect(await published).toBe(2);
    await bus.close();
  });

  test('publish rejects with DeadLettered and its cause when a queue set the event aside', async () => {
    const bus = memoryBus(topology, { retries: [] });
    const cause = new UnrecoverableError('never');
    await bus.consume('alpha', () => Promise.reject(cause), { prefetch: 1 });
    await bus.consume('beta', async () => undefined, { prefetch: 1 });
    const error = await bus.publish(one).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(DeadLettered);
    expect(error).toHaveProperty('cause', cause);
    await bus.close();
  });

  test('an event that is sent again is set aside once, and no more when it is handled at last', async () => {
    const bus = memoryBus(topology, { retries: [] });
    let broken = true;
    const mended = async () => {
      if (broken) throw new Error('broken');
    };
    await bus.consume('alpha', mended, { prefetch: 1 });
    await bus.consume('beta', async () => undefined, { prefetch: 1 });
    await expect(bus.publish(one)).rejects.toBeInstanceOf(DeadLettered);
    await expect(bus.publish(one)).rejects.toBeInstanceOf(DeadLettered);
    expect(await bus.dead('alpha')).toEqual([one]);
    broken = false;
    await bus.publish(one);
    expect(await bus.dead('alpha')).toEqual([]);
    await bus.close();
  });

  test('a queue that does not exist cannot be consumed', async () => {
    const bus = memoryBus(topology);
    await expect(bus.consume('gamma', async () => undefined, { prefetch: 1 })).rejects.toThrow(
      'no queue gamma',
    );
    await bus.close();
  });
});

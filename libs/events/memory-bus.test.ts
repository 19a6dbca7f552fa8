/** Tests of the in-process bus: the conformance suite of all buses, and what is specific to this one. */
import { describe, expect, test } from '@jest/globals';
import { type Envelope, newId } from '#libs/contract';
import { busConformance } from '../testing/bus-conformance.ts';
import { DeadLettered } from './bus.ts';
import { memoryBus } from './memory-bus.ts';
import { UnrecoverableError } from './retries.ts';

busConformance('the in-process bus', async ({ topology, retries }) => {
  const buses = [memoryBus(topology, { retries })];
  const [bus] = buses;
  if (!bus) throw new Error('The list has a first bus');
  return {
    bus,
    async reopen() {
      const next = memoryBus(topology, { retries });
      buses.push(next);
      return next;
    },
    async end() {
      await Promise.all(buses.map((opened) => opened.close()));
    },
  };
});

describe('the in-process bus', () => {
  const topology = new Map([
    ['alpha', ['thing.made']],
    ['beta', ['thing.made']],
  ]);
  const event: Envelope = {
    id: newId(),
    type: 'thing.made',
    occurred_at: new Date().toISOString(),
    organization_id: newId(),
    actor_id: null,
    data: {},
  };

  test('publish resolves when every bound queue has handled the event', async () => {
    const bus = memoryBus(topology);
    const handled: string[] = [];
    const published = bus.publish(event).then(() => handled.length);
    await bus.consume('alpha', async () => void handled.push('alpha'), { prefetch: 1 });
    await bus.consume('beta', async () => void handled.push('beta'), { prefetch: 1 });
    expect(await published).toBe(2);
    await bus.close();
  });

  test('publish rejects with DeadLettered if a queue dead-letters the event', async () => {
    const bus = memoryBus(topology, { retries: [] });
    const cause = new UnrecoverableError('never');
    await bus.consume('alpha', () => Promise.reject(cause), { prefetch: 1 });
    await bus.consume('beta', async () => undefined, { prefetch: 1 });
    const error = await bus.publish(event).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(DeadLettered);
    expect(error).toHaveProperty('cause', cause);
    await bus.close();
  });

  test('a republished event is one dead letter until it is handled', async () => {
    const bus = memoryBus(topology, { retries: [] });
    let broken = true;
    const handle = async () => {
      if (broken) throw new Error('broken');
    };
    await bus.consume('alpha', handle, { prefetch: 1 });
    await bus.consume('beta', async () => undefined, { prefetch: 1 });
    await expect(bus.publish(event)).rejects.toBeInstanceOf(DeadLettered);
    await expect(bus.publish(event)).rejects.toBeInstanceOf(DeadLettered);
    expect(await bus.dead('alpha')).toEqual([event]);
    broken = false;
    await bus.publish(event);
    expect(await bus.dead('alpha')).toEqual([]);
    await bus.close();
  });

  test('consume rejects for an unknown queue', async () => {
    const bus = memoryBus(topology);
    await expect(bus.consume('gamma', async () => undefined, { prefetch: 1 })).rejects.toThrow(
      'Unknown queue: gamma',
    );
    await bus.close();
  });
});

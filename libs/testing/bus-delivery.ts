/** Conformance tests: delivery of events without failures. */
import { describe, expect, test } from '@jest/globals';
import type { Envelope } from '#libs/contract';
import { Unroutable } from '#libs/events';
import { type BusFixture, createEnvelope, createGate, publish, toIds } from './bus-fixture.ts';
import { until } from './until.ts';

/** Declares the tests within a suite. */
export function busDelivery(fixture: BusFixture): void {
  describe('delivery', () => {
    test('an event reaches every queue bound to its type and no other', async () => {
      const { bus, alpha, beta, madeType, goneType, collect } = fixture;
      const [inAlpha, inBeta] = [await collect(alpha), await collect(beta)];
      const [madeEvent, goneEvent] = [createEnvelope(madeType), createEnvelope(goneType)];
      await Promise.all([bus.publish(madeEvent), bus.publish(goneEvent)]);
      await until('all events', async () => inAlpha.length === 2 && inBeta.length === 1);
      expect(toIds(inAlpha)).toEqual(toIds([madeEvent, goneEvent]));
      expect(toIds(inBeta)).toEqual([madeEvent.id]);
    });

    test('publish rejects with Unroutable when no queue is bound to the type', async () => {
      const { bus, alpha, madeType, collect } = fixture;
      await collect(alpha);
      await expect(bus.publish(createEnvelope(`${madeType}.not`))).rejects.toBeInstanceOf(Unroutable);
    });

    test('events published before a consumer starts are delivered to it', async () => {
      const { bus, alpha, goneType, collect } = fixture;
      const events = [createEnvelope(goneType), createEnvelope(goneType), createEnvelope(goneType)];
      for (const event of events) publish(bus, event);
      const received = await collect(alpha);
      await until('all three', async () => received.length === 3);
      expect(toIds(received)).toEqual(toIds(events));
    });

    test('an event arrives exactly as it was published', async () => {
      const { bus, alpha, goneType, collect } = fixture;
      const received = await collect(alpha);
      const event = {
        ...createEnvelope(goneType, {
          text: 'Ä\u2028\u{1f600}"\\',
          list: [1.5, null, true, {}],
          deep: { 'a.$b': [] },
        }),
        actor_id: null,
        trace: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
      };
      publish(bus, event);
      await until('the event', async () => received.length === 1);
      expect(received).toEqual([event]);
    });

    test('data arrives as it is after JSON serialization', async () => {
      const { bus, alpha, goneType, collect } = fixture;
      const received = await collect(alpha);
      publish(bus, createEnvelope(goneType, { at: new Date(0), nothing: undefined }));
      await until('the event', async () => received.length === 1);
      expect(Object.entries(received[0]?.data ?? {})).toEqual([['at', '1970-01-01T00:00:00.000Z']]);
    });

    test('exactly prefetch events are in flight at the same time', async () => {
      const { bus, alpha, goneType } = fixture;
      const gate = createGate();
      let [inFlight, maxInFlight, done] = [0, 0, 0];
      const slow = async () => {
        inFlight += 1;
        maxInFlight = Math.max(maxInFlight, inFlight);
        await gate.opened;
        inFlight -= 1;
        done += 1;
      };
      await bus.consume(alpha, slow, { prefetch: 3 });
      for (let count = 0; count < 10; count += 1) publish(bus, createEnvelope(goneType));
      await until('three events in flight', async () => inFlight === 3);
      gate.open();
      await until('all ten', async () => done === 10);
      expect(maxInFlight).toBe(3);
    });

    test('two consumers of one queue share its events', async () => {
      const { bus, alpha, goneType } = fixture;
      const gate = createGate();
      const received: string[] = [];
      for (const _ of [1, 2]) {
        const slow = async ({ id }: Envelope) => {
          received.push(id);
          await gate.opened;
        };
        await bus.consume(alpha, slow, { prefetch: 1 });
      }
      const events = [createEnvelope(goneType), createEnvelope(goneType), createEnvelope(goneType)];
      for (const event of events) publish(bus, event);
      await until('one event in flight per consumer', async () => received.length === 2);
      gate.open();
      await until('all', async () => received.length === 3);
      expect([...received].sort()).toEqual(toIds(events));
    });

    test('an event published twice is handled twice', async () => {
      const { bus, alpha, goneType, collect } = fixture;
      const received = await collect(alpha);
      const event = createEnvelope(goneType);
      publish(bus, event);
      publish(bus, event);
      await until('both deliveries', async () => received.length === 2);
      expect(toIds(received)).toEqual([event.id, event.id]);
    });
  });
}

/** Conformance tests: cancelled consumers and closed buses. */
import { describe, expect, test } from '@jest/globals';
import type { Envelope } from '#libs/contract';
import { BusClosed } from '#libs/events';
import {
  type BusFixture,
  createEnvelope,
  createGate,
  isSettled,
  noRetryInTime,
  publish,
  toIds,
} from './bus-fixture.ts';
import { until } from './until.ts';

/** Declares the tests within a suite. */
export function busShutdown(fixture: BusFixture): void {
  describe('shutdown', () => {
    test('cancel waits for events in flight and leaves the rest in the queue', async () => {
      const { bus, alpha, goneType, collect } = fixture;
      const gate = createGate();
      const first: string[] = [];
      let finished = 0;
      const slow = async ({ id }: Envelope) => {
        first.push(id);
        await gate.opened;
        finished += 1;
      };
      const consumer = await bus.consume(alpha, slow, { prefetch: 1 });
      const events = [createEnvelope(goneType), createEnvelope(goneType), createEnvelope(goneType)];
      for (const event of events) publish(bus, event);
      await until('one event in flight', async () => first.length === 1);
      const cancelled = consumer.cancel();
      expect(await isSettled(cancelled)).toBe(false);
      gate.open();
      await cancelled;
      expect([first.length, finished]).toEqual([1, 1]);
      const rest = await collect(alpha);
      await until('the rest', async () => rest.length === 2);
      expect([...first, ...toIds(rest)].sort()).toEqual(toIds(events));
    });

    test('cancel does not wait for consumers of other queues', async () => {
      const { bus, alpha, beta, madeType } = fixture;
      const gate = createGate();
      let isHandling = false;
      const slow = () => {
        isHandling = true;
        return gate.opened;
      };
      await bus.consume(beta, slow, { prefetch: 1 });
      const consumer = await bus.consume(alpha, async () => undefined, { prefetch: 1 });
      publish(bus, createEnvelope(madeType));
      await until('the slow handler', async () => isHandling);
      await consumer.cancel();
      gate.open();
    });

    test('close waits for events in flight', async () => {
      const { bus, alpha, goneType } = fixture;
      const gate = createGate();
      let [isStarted, finished] = [false, false];
      const slow = async () => {
        isStarted = true;
        await gate.opened;
        finished = true;
      };
      await bus.consume(alpha, slow, { prefetch: 1 });
      publish(bus, createEnvelope(goneType));
      await until('the event in flight', async () => isStarted);
      const closed = bus.close();
      expect(await isSettled(closed)).toBe(false);
      gate.open();
      await closed;
      expect(finished).toBe(true);
    });

    test('the signal of a handler is aborted when the bus closes', async () => {
      const { bus, alpha, goneType } = fixture;
      let isAborted = false;
      let isStarted = false;
      const patient = async (_: Envelope, signal: AbortSignal) => {
        isStarted = true;
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        isAborted = true;
      };
      await bus.consume(alpha, patient, { prefetch: 1 });
      publish(bus, createEnvelope(goneType));
      await until('the event in flight', async () => isStarted);
      await bus.close();
      expect(isAborted).toBe(true);
    });

    test('an unfinished event is rejected or redelivered after the bus closes', async () => {
      await fixture.restart(noRetryInTime);
      const { bus, underTest, alpha, goneType, collect } = fixture;
      let failed = 0;
      const fails = async () => {
        failed += 1;
        throw new Error('not now');
      };
      await bus.consume(alpha, fails, { prefetch: 1 });
      // one event waits for its second attempt, the other has not been handled yet
      const events = [createEnvelope(goneType), createEnvelope(goneType)];
      const outcomes = events.map((event) => publish(bus, event));
      await until('a failure', async () => failed === 1);
      await bus.close();
      const results = await Promise.all(outcomes);
      for (const outcome of results) if (outcome !== 'accepted') expect(outcome).toBeInstanceOf(BusClosed);
      const accepted = events.filter((_, index) => results[index] === 'accepted');
      expect(await bus.dead(alpha).catch(() => [])).toEqual([]);
      const next = await underTest.reopen();
      const received = await collect(alpha, next);
      await until('all accepted events', async () => received.length === accepted.length);
      expect(toIds(received)).toEqual(toIds(accepted));
      await next.close();
    });

    test('an event whose last attempt fails during close is not lost', async () => {
      await fixture.restart([]);
      const { bus, underTest, alpha, goneType, collect } = fixture;
      const gate = createGate();
      let isStarted = false;
      const fails = async () => {
        isStarted = true;
        await gate.opened;
        throw new Error('the database is down');
      };
      await bus.consume(alpha, fails, { prefetch: 1 });
      const event = createEnvelope(goneType);
      const outcome = publish(bus, event);
      await until('the event in flight', async () => isStarted);
      const closed = bus.close();
      gate.open();
      await closed;
      const next = await underTest.reopen();
      if ((await outcome) === 'accepted') {
        const received = await collect(alpha, next);
        await until('the event', async () => received.length === 1);
      } else expect(await outcome).toBeInstanceOf(BusClosed);
      await next.close();
    });

    test('a closed bus rejects events, is down and can be closed again', async () => {
      const { bus, madeType } = fixture;
      expect(bus.up).toBe(true);
      await bus.close();
      expect(bus.up).toBe(false);
      await expect(bus.publish(createEnvelope(madeType))).rejects.toBeInstanceOf(BusClosed);
      await bus.close();
    });
  });
}

/** What a bus promises when consumers are cancelled and when it closes. */
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

/** Declares these tests within a suite. */
export function busShutdown(stage: BusFixture): void {
  describe('ending', () => {
    test('cancel takes nothing new and waits for what is in hand; the next consumer gets the rest', async () => {
      const { bus, alpha, gone, collect } = stage;
      const gate = createGate();
      const first: string[] = [];
      let finished = 0;
      const slow = async ({ id }: Envelope) => {
        first.push(id);
        await gate.opened;
        finished += 1;
      };
      const consumer = await bus.consume(alpha, slow, { prefetch: 1 });
      const events = [createEnvelope(gone), createEnvelope(gone), createEnvelope(gone)];
      for (const one of events) publish(bus, one);
      await until('one in hand', async () => first.length === 1);
      const cancelled = consumer.cancel();
      expect(await isSettled(cancelled)).toBe(false);
      gate.open();
      await cancelled;
      expect([first.length, finished]).toEqual([1, 1]);
      const rest = await collect(alpha);
      await until('the rest', async () => rest.length === 2);
      expect([...first, ...toIds(rest)].sort()).toEqual(toIds(events));
    });

    test('cancelling one consumer does not wait for another queue', async () => {
      const { bus, alpha, beta, made } = stage;
      const gate = createGate();
      let waiting = false;
      const slow = () => {
        waiting = true;
        return gate.opened;
      };
      await bus.consume(beta, slow, { prefetch: 1 });
      const consumer = await bus.consume(alpha, async () => undefined, { prefetch: 1 });
      publish(bus, createEnvelope(made));
      await until('the slow one', async () => waiting);
      await consumer.cancel();
      gate.open();
    });

    test('close waits for what is in hand', async () => {
      const { bus, alpha, gone } = stage;
      const gate = createGate();
      let [begun, finished] = [false, false];
      const slow = async () => {
        begun = true;
        await gate.opened;
        finished = true;
      };
      await bus.consume(alpha, slow, { prefetch: 1 });
      publish(bus, createEnvelope(gone));
      await until('it is in hand', async () => begun);
      const closed = bus.close();
      expect(await isSettled(closed)).toBe(false);
      gate.open();
      await closed;
      expect(finished).toBe(true);
    });

    test('a handler is told when the bus closes', async () => {
      const { bus, alpha, gone } = stage;
      let told = false;
      let begun = false;
      const patient = async (_: Envelope, signal: AbortSignal) => {
        begun = true;
        await new Promise((resolve) => signal.addEventListener('abort', resolve));
        told = true;
      };
      await bus.consume(alpha, patient, { prefetch: 1 });
      publish(bus, createEnvelope(gone));
      await until('it is in hand', async () => begun);
      await bus.close();
      expect(told).toBe(true);
    });

    test('what is unfinished when the bus closes is not lost: refused to who published it, or there next time', async () => {
      await stage.restart(noRetryInTime);
      const { bus, underTest, alpha, gone, collect } = stage;
      let failed = 0;
      const fails = async () => {
        failed += 1;
        throw new Error('not now');
      };
      await bus.consume(alpha, fails, { prefetch: 1 });
      // one waits for its second try, one has not been looked at
      const events = [createEnvelope(gone), createEnvelope(gone)];
      const outcomes = events.map((one) => publish(bus, one));
      await until('a failure', async () => failed === 1);
      await bus.close();
      const told = await Promise.all(outcomes);
      for (const outcome of told) if (outcome !== 'taken') expect(outcome).toBeInstanceOf(BusClosed);
      const taken = events.filter((_, index) => told[index] === 'taken');
      expect(await bus.dead(alpha).catch(() => [])).toEqual([]);
      const next = await underTest.reopen();
      const heard = await collect(alpha, next);
      await until('all that was taken', async () => heard.length === taken.length);
      expect(toIds(heard)).toEqual(toIds(taken));
      await next.close();
    });

    test('an event whose last try fails while the bus closes is not lost', async () => {
      await stage.restart([]);
      const { bus, underTest, alpha, gone, collect } = stage;
      const gate = createGate();
      let begun = false;
      const fails = async () => {
        begun = true;
        await gate.opened;
        throw new Error('the database has gone');
      };
      await bus.consume(alpha, fails, { prefetch: 1 });
      const one = createEnvelope(gone);
      const outcome = publish(bus, one);
      await until('it is in hand', async () => begun);
      const closed = bus.close();
      gate.open();
      await closed;
      const next = await underTest.reopen();
      if ((await outcome) === 'taken') {
        const heard = await collect(alpha, next);
        await until('the event', async () => heard.length === 1);
      } else expect(await outcome).toBeInstanceOf(BusClosed);
      await next.close();
    });

    test('a closed bus takes nothing, is down, and may be closed again', async () => {
      const { bus, made } = stage;
      expect(bus.up).toBe(true);
      await bus.close();
      expect(bus.up).toBe(false);
      await expect(bus.publish(createEnvelope(made))).rejects.toBeInstanceOf(BusClosed);
      await bus.close();
    });
  });
}

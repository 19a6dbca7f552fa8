/** Conformance tests: failing handlers and malformed events. */
import { describe, expect, test } from '@jest/globals';
import { z } from 'zod';
import { type Envelope, event } from '#libs/contract';
import { dispatchByType, on, UnrecoverableError } from '#libs/events';
import {
  type BusFixture,
  createEnvelope,
  noRetryInTime,
  publish,
  quickRetries,
  toIds,
} from './bus-fixture.ts';
import { until } from './until.ts';

/** Declares the tests within a suite. */
export function busFailures(fixture: BusFixture): void {
  describe('failures', () => {
    test('a handler that modifies an event does not affect other deliveries', async () => {
      const { bus, alpha, beta, madeType } = fixture;
      const seen: unknown[] = [];
      const modify = async (envelope: Envelope) => {
        seen.push(structuredClone(envelope.data));
        Object.assign(envelope.data as object, { name: 'modified' });
        if (seen.length < 3) throw new Error('not yet');
      };
      await bus.consume(alpha, modify, { prefetch: 1 });
      await bus.consume(beta, modify, { prefetch: 1 });
      const envelope = createEnvelope(madeType, { name: 'original' });
      publish(bus, envelope);
      await until('both deliveries and a retry', async () => seen.length >= 4);
      expect(seen).toEqual(seen.map(() => ({ name: 'original' })));
      expect(envelope.data).toEqual({ name: 'original' });
    });

    test('a failed handler is retried with delays until it succeeds', async () => {
      const { bus, alpha, goneType } = fixture;
      const attemptTimes: number[] = [];
      const fails = async () => {
        attemptTimes.push(performance.now());
        if (attemptTimes.length < 4) throw new Error('not yet');
      };
      await bus.consume(alpha, fails, { prefetch: 1 });
      publish(bus, createEnvelope(goneType));
      await until('four attempts', async () => attemptTimes.length === 4);
      const pauses = attemptTimes.slice(1).map((at, index) => at - (attemptTimes[index] ?? 0));
      // a timer may fire a millisecond early
      for (const [index, pause] of pauses.entries())
        expect(pause).toBeGreaterThanOrEqual((quickRetries[index] ?? 0) - 2);
      expect(await bus.dead(alpha)).toEqual([]);
    });

    test('an event is dead-lettered after five failures, later ones are handled', async () => {
      const { bus, alpha, beta, goneType, waitForDead } = fixture;
      const [bad, good] = [createEnvelope(goneType), createEnvelope(goneType)];
      const attempts: string[] = [];
      const deadLettered: unknown[] = [];
      const fails = async ({ id }: Envelope) => {
        attempts.push(id);
        if (id === bad.id) throw new Error('never');
      };
      const before = await bus.depth(alpha);
      await bus.consume(alpha, fails, { prefetch: 1, onDeadLetter: ({ type }) => deadLettered.push(type) });
      publish(bus, bad);
      publish(bus, good);
      await until('the good event', async () => attempts.includes(good.id));
      expect(await waitForDead(alpha, 1)).toEqual([bad]);
      // reported once to the consumer of this queue, and counted
      expect(deadLettered).toEqual([goneType]);
      await until('the count', async () => (await bus.depth(alpha)).dead === 1);
      expect(before).toEqual({ ready: 0, retry: 0, dead: 0 });
      expect(attempts.filter((id) => id === bad.id)).toHaveLength(5);
      expect(attempts.filter((id) => id === good.id)).toHaveLength(1);
      expect(await bus.dead(beta)).toEqual([]);
    });

    test('a failure in one queue does not redeliver the event to another', async () => {
      const { bus, alpha, beta, madeType, collect, waitForDead } = fixture;
      const inBeta = await collect(beta);
      const fails = () => Promise.reject(new UnrecoverableError('never'));
      await bus.consume(alpha, fails, { prefetch: 1 });
      publish(bus, createEnvelope(madeType));
      await waitForDead(alpha, 1);
      await until('the event in the other queue', async () => inBeta.length === 1);
      expect(inBeta).toHaveLength(1);
    });

    test('an UnrecoverableError dead-letters the event after one attempt', async () => {
      const { bus, alpha, goneType, waitForDead } = fixture;
      let attempts = 0;
      const fails = async () => {
        attempts += 1;
        throw new UnrecoverableError('cannot be handled');
      };
      await bus.consume(alpha, fails, { prefetch: 1 });
      const bad = createEnvelope(goneType);
      publish(bus, bad);
      expect(await waitForDead(alpha, 1)).toEqual([bad]);
      expect(attempts).toBe(1);
    });

    test('malformed, unknown and invalid events are dead-lettered at once', async () => {
      const { bus, alpha, beta, madeType, goneType, collect, waitForDead } = fixture;
      const received: Envelope[] = [];
      const type = event(madeType, {
        description: 'A thing was created.',
        data: z.strictObject({ name: z.string() }),
      });
      const subscriber = on(type, async (envelope) => void received.push(envelope));
      let attempts = 0;
      const handler = dispatchByType([subscriber]);
      const countingHandler = async (envelope: Envelope, signal: AbortSignal) => {
        attempts += 1;
        await handler(envelope, signal);
      };
      await bus.consume(alpha, countingHandler, { prefetch: 1 });
      await collect(beta);
      const unknown = createEnvelope(goneType);
      const invalid = createEnvelope(madeType, { name: 7 });
      // as another implementation might publish it
      const noId = { type: madeType, data: { name: 'x' } } as unknown as Envelope;
      const noIdEither = { type: madeType, data: { name: 'y' } } as unknown as Envelope;
      const noTime = { ...createEnvelope(madeType, { name: 'x' }), occurred_at: 'yesterday' };
      const good = createEnvelope(madeType, { name: 'x' });
      for (const envelope of [unknown, invalid, noId, noIdEither, noTime, good]) publish(bus, envelope);
      await until('the good event', async () => received.length === 1);
      expect(received).toEqual([good]);
      expect(await waitForDead(alpha, 5)).toEqual(
        expect.arrayContaining([unknown, invalid, noId, noIdEither, noTime]),
      );
      expect(attempts).toBe(6);
    });

    test('bytes that are not an event do not stop the queue', async () => {
      const { bus, underTest, alpha, goneType, collect } = fixture;
      const received = await collect(alpha);
      await underTest.inject?.(alpha, Buffer.from('{"id": nonsense'));
      await underTest.inject?.(alpha, Buffer.from([0xff, 0xfe, 0x00]));
      const good = createEnvelope(goneType);
      publish(bus, good);
      await until('the good event', async () => received.some(({ id }) => id === good.id));
      expect(toIds(received)).toEqual([good.id]);
    });

    test('an event that waits for a retry does not block other events', async () => {
      await fixture.restart(noRetryInTime);
      const { bus, alpha, goneType } = fixture;
      const bad = createEnvelope(goneType);
      const handled: string[] = [];
      const fails = async ({ id }: Envelope) => {
        if (id === bad.id) throw new Error('never');
        handled.push(id);
      };
      await bus.consume(alpha, fails, { prefetch: 2 });
      const good = Array.from({ length: 5 }, () => createEnvelope(goneType));
      for (const envelope of [bad, ...good]) publish(bus, envelope);
      await until('the other events', async () => handled.length === 5);
      expect(handled.sort()).toEqual(toIds(good));
    });
  });
}

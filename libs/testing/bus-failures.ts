/** What a bus promises when handlers fail and events are no events. */
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

/** Declares these tests within a suite. */
export function busFailures(stage: BusFixture): void {
  describe('failures', () => {
    test('a handler cannot change what another one gets, nor what it gets itself the next time', async () => {
      const { bus, alpha, beta, made } = stage;
      const seen: unknown[] = [];
      const spoil = async (one: Envelope) => {
        seen.push(structuredClone(one.data));
        Object.assign(one.data as object, { name: 'spoilt' });
        if (seen.length < 3) throw new Error('not yet');
      };
      await bus.consume(alpha, spoil, { prefetch: 1 });
      await bus.consume(beta, spoil, { prefetch: 1 });
      const one = createEnvelope(made, { name: 'pure' });
      publish(bus, one);
      await until('both and a second try', async () => seen.length >= 4);
      expect(seen).toEqual(seen.map(() => ({ name: 'pure' })));
      expect(one.data).toEqual({ name: 'pure' });
    });

    test('a handler that fails is tried again, after pauses, until it succeeds', async () => {
      const { bus, alpha, gone } = stage;
      const triedAt: number[] = [];
      const fails = async () => {
        triedAt.push(performance.now());
        if (triedAt.length < 4) throw new Error('not yet');
      };
      await bus.consume(alpha, fails, { prefetch: 1 });
      publish(bus, createEnvelope(gone));
      await until('four tries', async () => triedAt.length === 4);
      const pauses = triedAt.slice(1).map((at, index) => at - (triedAt[index] ?? 0));
      // a timer may come a millisecond early
      for (const [index, pause] of pauses.entries())
        expect(pause).toBeGreaterThanOrEqual((quickRetries[index] ?? 0) - 2);
      expect(await bus.dead(alpha)).toEqual([]);
    });

    test('an event whose handler fails five times is set aside, and those behind it are handled', async () => {
      const { bus, alpha, beta, gone, waitForDead } = stage;
      const [bad, good] = [createEnvelope(gone), createEnvelope(gone)];
      const tries: string[] = [];
      const told: unknown[] = [];
      const fails = async ({ id }: Envelope) => {
        tries.push(id);
        if (id === bad.id) throw new Error('never');
      };
      const before = await bus.depth(alpha);
      await bus.consume(alpha, fails, { prefetch: 1, onDeadLetter: ({ type }) => told.push(type) });
      publish(bus, bad);
      publish(bus, good);
      await until('the good one', async () => tries.includes(good.id));
      expect(await waitForDead(alpha, 1)).toEqual([bad]);
      // said once, to who handles it, and counted
      expect(told).toEqual([gone]);
      await until('the count', async () => (await bus.depth(alpha)).dead === 1);
      expect(before).toEqual({ ready: 0, retry: 0, dead: 0 });
      expect(tries.filter((id) => id === bad.id)).toHaveLength(5);
      expect(tries.filter((id) => id === good.id)).toHaveLength(1);
      expect(await bus.dead(beta)).toEqual([]);
    });

    test('a failure in one queue does not send the event to another one again', async () => {
      const { bus, alpha, beta, made, collect, waitForDead } = stage;
      const inBeta = await collect(beta);
      const fails = () => Promise.reject(new UnrecoverableError('never'));
      await bus.consume(alpha, fails, { prefetch: 1 });
      publish(bus, createEnvelope(made));
      await waitForDead(alpha, 1);
      await until('the other one', async () => inBeta.length === 1);
      expect(inBeta).toHaveLength(1);
    });

    test('a hopeless event is set aside after one try', async () => {
      const { bus, alpha, gone, waitForDead } = stage;
      let tries = 0;
      const fails = async () => {
        tries += 1;
        throw new UnrecoverableError('this is for nobody');
      };
      await bus.consume(alpha, fails, { prefetch: 1 });
      const bad = createEnvelope(gone);
      publish(bus, bad);
      expect(await waitForDead(alpha, 1)).toEqual([bad]);
      expect(tries).toBe(1);
    });

    test('garbage, unknown types and data of another shape are set aside at once, each once', async () => {
      const { bus, alpha, beta, made, gone, collect, waitForDead } = stage;
      const heard: Envelope[] = [];
      const type = event(made, {
        description: 'A thing was made.',
        data: z.strictObject({ name: z.string() }),
      });
      const hearsMade = on(type, async (one) => void heard.push(one));
      let tries = 0;
      const handler = dispatchByType([hearsMade]);
      const counted = async (one: Envelope, signal: AbortSignal) => {
        tries += 1;
        await handler(one, signal);
      };
      await bus.consume(alpha, counted, { prefetch: 1 });
      await collect(beta);
      const unknown = createEnvelope(gone);
      const misshapen = createEnvelope(made, { name: 7 });
      // as a neighbour of another make might say it
      const noId = { type: made, data: { name: 'x' } } as unknown as Envelope;
      const noIdEither = { type: made, data: { name: 'y' } } as unknown as Envelope;
      const noTime = { ...createEnvelope(made, { name: 'x' }), occurred_at: 'yesterday' };
      const good = createEnvelope(made, { name: 'x' });
      for (const one of [unknown, misshapen, noId, noIdEither, noTime, good]) publish(bus, one);
      await until('the good one', async () => heard.length === 1);
      expect(heard).toEqual([good]);
      expect(await waitForDead(alpha, 5)).toEqual(
        expect.arrayContaining([unknown, misshapen, noId, noIdEither, noTime]),
      );
      expect(tries).toBe(6);
    });

    test('bytes that are no event do not stop the queue', async () => {
      const { bus, underTest, alpha, gone, collect } = stage;
      const heard = await collect(alpha);
      await underTest.inject?.(alpha, Buffer.from('{"id": nonsense'));
      await underTest.inject?.(alpha, Buffer.from([0xff, 0xfe, 0x00]));
      const good = createEnvelope(gone);
      publish(bus, good);
      await until('the good one', async () => heard.some(({ id }) => id === good.id));
      expect(toIds(heard)).toEqual([good.id]);
    });

    test('an event that waits for its next try does not keep its neighbours', async () => {
      await stage.restart(noRetryInTime);
      const { bus, alpha, gone } = stage;
      const bad = createEnvelope(gone);
      const handled: string[] = [];
      const fails = async ({ id }: Envelope) => {
        if (id === bad.id) throw new Error('never');
        handled.push(id);
      };
      await bus.consume(alpha, fails, { prefetch: 2 });
      const good = Array.from({ length: 5 }, () => createEnvelope(gone));
      for (const one of [bad, ...good]) publish(bus, one);
      await until('the neighbours', async () => handled.length === 5);
      expect(handled.sort()).toEqual(toIds(good));
    });
  });
}

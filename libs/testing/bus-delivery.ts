/** What a bus promises while all goes well. */
import { describe, expect, test } from '@jest/globals';
import type { Envelope } from '#libs/contract';
import { Unroutable } from '#libs/events';
import { type BusFixture, createEnvelope, createGate, publish, toIds } from './bus-fixture.ts';
import { until } from './until.ts';

/** Declares these tests within a suite. */
export function busDelivery(stage: BusFixture): void {
  describe('delivery', () => {
    test('every queue that wants an event gets it, and no other', async () => {
      const { bus, alpha, beta, made, gone, collect } = stage;
      const [inAlpha, inBeta] = [await collect(alpha), await collect(beta)];
      const [both, one] = [createEnvelope(made), createEnvelope(gone)];
      await Promise.all([bus.publish(both), bus.publish(one)]);
      await until('all of it', async () => inAlpha.length === 2 && inBeta.length === 1);
      expect(toIds(inAlpha)).toEqual(toIds([both, one]));
      expect(toIds(inBeta)).toEqual([both.id]);
    });

    test('an event that no queue wants is Unroutable', async () => {
      const { bus, alpha, made, collect } = stage;
      await collect(alpha);
      await expect(bus.publish(createEnvelope(`${made}.not`))).rejects.toBeInstanceOf(Unroutable);
    });

    test('what was published before a consumer came is waiting for it', async () => {
      const { bus, alpha, gone, collect } = stage;
      const events = [createEnvelope(gone), createEnvelope(gone), createEnvelope(gone)];
      for (const one of events) publish(bus, one);
      const heard = await collect(alpha);
      await until('all three', async () => heard.length === 3);
      expect(toIds(heard)).toEqual(toIds(events));
    });

    test('an event arrives exactly as it was published', async () => {
      const { bus, alpha, gone, collect } = stage;
      const heard = await collect(alpha);
      const one = {
        ...createEnvelope(gone, {
          text: 'Ä\u2028\u{1f600}"\\',
          list: [1.5, null, true, {}],
          deep: { 'a.$b': [] },
        }),
        actor_id: null,
        trace: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
      };
      publish(bus, one);
      await until('the event', async () => heard.length === 1);
      expect(heard).toEqual([one]);
    });

    test('what JSON does not carry is not carried', async () => {
      const { bus, alpha, gone, collect } = stage;
      const heard = await collect(alpha);
      publish(bus, createEnvelope(gone, { at: new Date(0), nothing: undefined }));
      await until('the event', async () => heard.length === 1);
      expect(Object.entries(heard[0]?.data ?? {})).toEqual([['at', '1970-01-01T00:00:00.000Z']]);
    });

    test('no more than prefetch events are in hand, and as many as that', async () => {
      const { bus, alpha, gone } = stage;
      const gate = createGate();
      let [inHand, most, done] = [0, 0, 0];
      const slow = async () => {
        inHand += 1;
        most = Math.max(most, inHand);
        await gate.opened;
        inHand -= 1;
        done += 1;
      };
      await bus.consume(alpha, slow, { prefetch: 3 });
      for (let count = 0; count < 10; count += 1) publish(bus, createEnvelope(gone));
      await until('three in hand', async () => inHand === 3);
      gate.open();
      await until('all ten', async () => done === 10);
      expect(most).toBe(3);
    });

    test('two consumers of one queue share its events', async () => {
      const { bus, alpha, gone } = stage;
      const gate = createGate();
      const heard: string[] = [];
      for (const _ of [1, 2]) {
        const slow = async ({ id }: Envelope) => {
          heard.push(id);
          await gate.opened;
        };
        await bus.consume(alpha, slow, { prefetch: 1 });
      }
      const events = [createEnvelope(gone), createEnvelope(gone), createEnvelope(gone)];
      for (const one of events) publish(bus, one);
      await until('one in the hand of each', async () => heard.length === 2);
      gate.open();
      await until('all', async () => heard.length === 3);
      expect([...heard].sort()).toEqual(toIds(events));
    });

    test('the same event published twice is handled twice', async () => {
      const { bus, alpha, gone, collect } = stage;
      const heard = await collect(alpha);
      const one = createEnvelope(gone);
      publish(bus, one);
      publish(bus, one);
      await until('both', async () => heard.length === 2);
      expect(toIds(heard)).toEqual([one.id, one.id]);
    });
  });
}

/** Tests how the handler of a queue calls subscribers. */
import { expect, test } from '@jest/globals';
import { z } from 'zod';
import { type Envelope, event, newId } from '#libs/contract';
import { dispatchByType, on, UnrecoverableError } from '#libs/events';

const ThingMade = event('thing.made', {
  description: 'A thing.',
  data: z.strictObject({ name: z.string() }),
});
const { signal } = new AbortController();
const isIdempotent = true;

const createEvent = (data: unknown = { name: 'a' }): Envelope => ({
  ...{ id: newId(), type: ThingMade.name, occurred_at: new Date().toISOString() },
  ...{ organization_id: newId(), actor_id: null, data },
});
const fail = async (error: Error) => Promise.reject(error);

test('all subscribers of a type get its events', async () => {
  const calls: string[] = [];
  const subscribe = (name: string, options?: { isIdempotent: boolean }) =>
    on(ThingMade, async (made) => void calls.push(`${name} ${made.data.name}`), options);
  await dispatchByType([subscribe('inbox'), subscribe('log', { isIdempotent })])(createEvent(), signal);
  expect(calls).toEqual(['inbox a', 'log a']);
});

test('a subscriber that fails does not stop the others, which end first', async () => {
  const calls: string[] = [];
  const count = on(
    ThingMade,
    async ({ id }) => {
      await new Promise(setImmediate);
      calls.push(id);
    },
    { isIdempotent },
  );
  const broken = on(ThingMade, () => fail(new Error('not yet')));
  await expect(dispatchByType([broken, count])(createEvent(), signal)).rejects.toThrow('not yet');
  expect(calls).toHaveLength(1);
});

test('an event is handled again if one of the errors is recoverable', async () => {
  const never = on(ThingMade, () => fail(new UnrecoverableError('never')), { isIdempotent });
  const later = on(ThingMade, () => fail(new Error('not yet')));
  await expect(dispatchByType([never, later])(createEvent(), signal)).rejects.toThrow('not yet');
  await expect(dispatchByType([never])(createEvent(), signal)).rejects.toThrow(UnrecoverableError);
});

test('data that does not fit the schema is unrecoverable, except new fields', async () => {
  const seen: unknown[] = [];
  const dispatch = dispatchByType([on(ThingMade, async ({ data }) => void seen.push(data))]);
  await expect(dispatch(createEvent({ name: 1 }), signal)).rejects.toThrow(UnrecoverableError);
  await dispatch(createEvent({ name: 'a', new: 1 }), signal);
  expect(seen).toEqual([{ name: 'a', new: 1 }]);
});

test('only one subscriber of a type may use the inbox', () => {
  const subscriber = on(ThingMade, async () => undefined);
  expect(() => dispatchByType([subscriber, subscriber])).toThrow(
    'thing.made has several subscribers that are not idempotent',
  );
});

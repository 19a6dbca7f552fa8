/** Tests every branch of the rule of update events. */
import { expect, test } from '@jest/globals';
import { scheduleUpdateEvent } from './update-events.ts';

const at = new Date('2026-11-21T09:30:00.000Z');
const after = (ms: number) => new Date(at.getTime() + ms);
const dueIn5s = { update_event_due_at: after(5_000) };

test('an edit makes the event of a published document due in 5 s', () =>
  expect(scheduleUpdateEvent({}, at)).toEqual(dueIn5s));

test.each([-60_000, 0, 4_999, 5_000])('an event due in %i ms keeps its time', (ms) =>
  expect(scheduleUpdateEvent({ update_event_due_at: after(ms) }, at)).toEqual({}),
);

test('an event due later than in 5 s gets the earlier time', () =>
  expect(scheduleUpdateEvent({ update_event_due_at: after(3_600_000) }, at)).toEqual(dueIn5s));

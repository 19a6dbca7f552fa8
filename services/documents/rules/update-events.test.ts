/** Tests every branch of the rule of update events. */
import { expect, test } from '@jest/globals';
import { scheduleUpdateEvent } from './update-events.ts';

const at = new Date('2026-11-21T09:30:00.000Z');
const after = (ms: number) => new Date(at.getTime() + ms);
const published = { status: 'published' } as const;
const dueIn5s = { update_event_due_at: after(5_000) };

test.each([
  { title: 'T' },
  { version: null },
  { department: 'D' },
  { language: 'de' },
  { node_count: 1, content_bytes: 0 },
  {},
])('a change of %j makes the event of a published document due in 5 s', (change) =>
  expect(scheduleUpdateEvent(published, change, at)).toEqual(dueIn5s),
);

test.each([{ editor_id: null }, { status: 'archived', archived_at: at }, { share_epoch: 1 }])(
  'a change of %j makes no event due',
  (change) => expect(scheduleUpdateEvent(published, change, at)).toEqual({}),
);

test.each(['draft', 'archived', undefined] as const)('no event is due with the status %s', (status) =>
  expect(scheduleUpdateEvent({ ...(status && { status }) }, { title: 'T' }, at)).toEqual({}),
);

test.each([-60_000, 0, 4_999, 5_000])('an event due in %i ms keeps its time', (ms) => {
  const due = { ...published, update_event_due_at: after(ms) };
  expect(scheduleUpdateEvent(due, { title: 'T' }, at)).toEqual({});
});

test('an event due later than in 5 s gets the earlier time', () => {
  const due = { ...published, update_event_due_at: after(3_600_000) };
  expect(scheduleUpdateEvent(due, { title: 'T' }, at)).toEqual(dueIn5s);
});

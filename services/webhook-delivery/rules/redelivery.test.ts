/** Tests the redelivery rules. */
import { expect, test } from '@jest/globals';
import { uniqueByEvent } from './redelivery.ts';

test('uniqueByEvent keeps the first entry of each event', () => {
  const entries = ['a1', 'b1', 'a2', 'c1', 'b2'].map((id) => ({ id, event_id: id[0] ?? '' }));
  expect(uniqueByEvent(entries).map(({ id }) => id)).toEqual(['a1', 'b1', 'c1']);
});

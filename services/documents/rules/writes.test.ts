/** Tests every branch of the rule of in-place edits. */
import { expect, test } from '@jest/globals';
import { isInPlaceEdit } from './writes.ts';

const published = { status: 'published' } as const;

test.each([
  { title: 'T' },
  { version: null },
  { department: 'D' },
  { language: 'de' },
  { node_count: 1, content_bytes: 0 },
  {},
])('a change of %j edits a published version in place', (change) =>
  expect(isInPlaceEdit(published, change)).toBe(true),
);

test.each([{ editor_id: null }, { status: 'archived', archived_at: new Date(0) }, { share_epoch: 1 }])(
  'a change of %j is no edit',
  (change) => expect(isInPlaceEdit(published, change)).toBe(false),
);

test.each(['draft', 'archived', undefined] as const)('the status %s has no in-place edits', (status) =>
  expect(isInPlaceEdit({ ...(status && { status }) }, { title: 'T' })).toBe(false),
);

/** Tests that rows of lists are rendered like summaries, also when they are remembered. */
import { expect, test } from '@jest/globals';
import mongoose from 'mongoose';
import { newId } from '#libs/contract';
import { toSummary } from './presenters.ts';
import { summaryRenderer } from './summary-json.ts';
import { documentRow } from './testing/rows.ts';

const { BSON } = mongoose.mongo;
const row = documentRow({
  organization_id: newId(),
  title: 'Zählung — 1 „Kasse“',
  published_at: new Date(0),
});

test('a row is rendered like its summary, again from its bytes', () => {
  const render = summaryRenderer();
  const [first, again] = [render(BSON.serialize(row)), render(BSON.serialize(row))];
  expect(JSON.parse(first)).toEqual(toSummary(row));
  expect(again).toBe(first);
});

test.each([
  { title: 'Zählung — 1 „Kasse”' },
  { title: 'Z\u00c3\u00a4hlung' },
  { _id: newId() },
  { organization_id: newId() },
  { department: 'Stores' },
  { published_at: new Date(1) },
  { approver_ids: [newId()] },
  { approval: { id: newId(), status: 'pending' as const, approved_at: null } },
])('a row that differs in one field is rendered anew: %j', (change) => {
  const render = summaryRenderer();
  render(BSON.serialize(row));
  const changed = { ...row, ...change };
  expect(JSON.parse(render(BSON.serialize(changed)))).toEqual(toSummary(changed as never));
});

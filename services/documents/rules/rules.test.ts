/** Tests every branch of the document rules. */
import { describe, expect, test } from '@jest/globals';
import { canBeChildOf, placeNodes } from './hierarchy.ts';
import { archive, publish, revisionFields, toHistory } from './lifecycle.ts';

test('each node type has exactly one parent type', () => {
  const types = ['section', 'step', 'sub_step'] as const;
  const allowed = types.flatMap((type) =>
    [null, ...types].filter((parent) => canBeChildOf(type, parent)).map((parent) => [type, parent]),
  );
  expect(allowed).toEqual([
    ['section', null],
    ['step', 'section'],
    ['sub_step', 'step'],
  ]);
});

test('placeNodes lists parents first and defaults order to the position', () => {
  const { nodes, misplaced } = placeNodes([
    {
      node_type: 'section',
      title: 'A',
      children: [
        { node_type: 'step', title: 'A1' },
        { node_type: 'step', title: 'A2', order: -3 },
      ],
    },
    { node_type: 'section', title: 'B' },
  ]);
  expect(nodes.map(({ input, parent, order }) => [input.title, parent, order])).toEqual([
    ['A', null, 0],
    ['A1', 0, 0],
    ['A2', 0, -3],
    ['B', null, 1],
  ]);
  expect(misplaced).toEqual([]);
});

test('placeNodes reports the path of every misplaced node', () => {
  const { misplaced } = placeNodes([
    { node_type: 'step', title: 'lost' },
    {
      node_type: 'section',
      title: 'A',
      children: [
        { node_type: 'sub_step', title: 'lost' },
        { node_type: 'section', title: 'lost' },
      ],
    },
  ]);
  expect(misplaced).toEqual(['body/nodes/0', 'body/nodes/1/children/0', 'body/nodes/1/children/1']);
});

describe('lifecycle', () => {
  const at = new Date('2026-11-21T09:30:00.000Z');

  test('publish sets published_at, and archive sets archived_at', () => {
    const baseline = { baseline_id: 'b', baseline_published_at: at };
    expect(publish('u', 'h', baseline, at)).toEqual({
      status: 'published',
      published_at: at,
      published_by: 'u',
      content_hash: 'h',
      ...baseline,
    });
    const withoutDue = { review_due_at: null, review_notice_at: null };
    expect(archive(at)).toEqual({ status: 'archived', archived_at: at, ...withoutDue });
  });

  test('a revision copies content and ownership, not status', () => {
    const fields = {
      organization_id: 'organization',
      family_id: 'first',
      created_by: 'owner',
      editor_id: 'editor',
      title: 'T',
      version: '1',
      department: null,
      language: 'de',
      share_epoch: 2,
      node_count: 3,
      content_bytes: 4,
    };
    const original = {
      ...fields,
      _id: 'second',
      parent_doc_id: 'first',
      status: 'published',
      row_version: 9,
      approver_ids: ['approver'],
      reviewer_id: 'reviewer',
      review_months: 12,
      reviewed_at: at,
    };
    expect(revisionFields(original)).toEqual({
      ...{ ...fields, approver_ids: ['approver'], reviewer_id: 'reviewer', review_months: 12 },
    });
    const { language: _, approver_ids: _a, reviewer_id: _r, review_months: _m, ...older } = original;
    const defaults = { language: null, approver_ids: [], reviewer_id: null, review_months: null };
    expect(revisionFields(older)).toEqual({ ...fields, ...defaults });
  });

  test('history is sorted by publish time, then id, and needs two versions', () => {
    const version = (_id: string, day: number | null) => ({
      _id,
      published_at: day === null ? null : new Date(Date.UTC(2026, 0, day)),
    });
    const family = [version('c', 3), version('d', null), version('b', 3), version('a', 4), version('e', 1)];
    expect(toHistory(family).map(({ _id }) => _id)).toEqual(['e', 'b', 'c', 'a']);
    expect(toHistory([version('a', 1)])).toEqual([]);
    expect(toHistory([version('a', 1), version('b', null)]).map(({ _id }) => _id)).toEqual(['a']);
  });
});

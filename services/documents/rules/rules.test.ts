/** The rules of documents, every branch. */
import { describe, expect, test } from '@jest/globals';
import { canStandUnder, placed } from './hierarchy.ts';
import { canEdit, canManage } from './permission.ts';

test('sections stand at the top, steps in sections, sub-steps in steps, and nowhere else', () => {
  const types = ['section', 'step', 'sub_step'] as const;
  const allowed = types.flatMap((type) =>
    [null, ...types].filter((parent) => canStandUnder(type, parent)).map((parent) => [type, parent]),
  );
  expect(allowed).toEqual([
    ['section', null],
    ['step', 'section'],
    ['sub_step', 'step'],
  ]);
});

test('a tree becomes a list with parents first; order is the position unless given', () => {
  const { nodes, misplaced } = placed([
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

test('every node that stands where it must not is named', () => {
  const { misplaced } = placed([
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

describe('permission', () => {
  const document = { created_by: 'owner', editor_id: 'editor' };
  test.each([
    ['owner', 'member', true, true],
    ['editor', 'member', true, false],
    ['someone', 'member', false, false],
    ['someone', 'admin', true, true],
  ] as const)('%s (%s) may edit: %s, manage: %s', (user_id, role, edits, manages) => {
    expect(canEdit({ user_id, role }, document)).toBe(edits);
    expect(canManage({ user_id, role }, document)).toBe(manages);
  });
});

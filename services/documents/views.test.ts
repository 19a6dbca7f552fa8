/** Tests the order of nodes. */
import { expect, test } from '@jest/globals';
import { groupByParent } from './views.ts';

const node = (_id: string, order: number, parent_id: string | null = null) => ({ _id, parent_id, order });

test('siblings are sorted by order, then by creation', () => {
  const nodes = [node('3', 1), node('1', 2), node('2', 1), node('5', 0, '1'), node('4', 0, '1')];
  const groups = groupByParent(nodes);
  const ids = (parent: string | null) => groups.get(parent)?.map(({ _id }) => _id);
  expect([ids(null), ids('1'), ids('2')]).toEqual([['2', '3', '1'], ['4', '5'], undefined]);
  expect(nodes[0]?._id).toBe('3');
});

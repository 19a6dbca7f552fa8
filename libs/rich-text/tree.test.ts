/** Tests of walking a tree. */
import { expect, test } from '@jest/globals';
import { type RichText, walk } from './tree.ts';

test('walk visits nodes depth first with their depth and path', () => {
  const tree: RichText = {
    type: 'doc',
    content: [{ type: 'a', content: [{ type: 'b' }, { type: 'c' }] }, { type: 'd' }],
  };
  expect([...walk(tree)].map(({ node, depth, path }) => [node.type, depth, path])).toEqual([
    ['doc', 0, ''],
    ['a', 1, 'content/0'],
    ['b', 2, 'content/0/content/0'],
    ['c', 2, 'content/0/content/1'],
    ['d', 1, 'content/1'],
  ]);
});

test('walk handles very deep and very wide trees', () => {
  let deep: RichText = { type: 'leaf' };
  for (let level = 0; level < 100_000; level++) deep = { type: 'x', content: [deep] };
  let nodes = 0;
  for (const { depth } of walk(deep)) nodes = depth + 1;
  expect(nodes).toBe(100_001);
  const wide: RichText = { type: 'doc', content: Array.from({ length: 300_000 }, () => ({ type: 'x' })) };
  expect([...walk(wide)]).toHaveLength(300_001);
});

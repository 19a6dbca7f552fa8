/** Tests that other requests are served while the nodes of a large tree are prepared. */
import { expect, test } from '@jest/globals';
import { newId } from '#libs/contract';
import { countTurns, withTickClock } from '#libs/testing';
import { flattenTree } from './tree-input.ts';

test('the nodes of a tree are prepared in slices', async () => {
  const document = { _id: newId(), organization_id: newId() };
  const section = { node_type: 'section' as const, title: 'Valve', content: null };
  const tree = Array.from({ length: 500 }, () => ({ ...section, children: [] }));
  const { result, turns } = await withTickClock(() =>
    countTurns(flattenTree(document, tree, newId(), new Date())),
  );
  expect([result.node_count, result.nodes.length]).toEqual([500, 500]);
  expect(turns).toBeGreaterThan(200);
});

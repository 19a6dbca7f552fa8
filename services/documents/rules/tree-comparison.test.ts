/** Tests which nodes of two trees belong together, which have moved, and in which order they are listed. */
import { describe, expect, test } from '@jest/globals';
import type { SlicedWork } from '#libs/workers';
import { countYields, finish } from '../testing/finish.ts';
import { type ComparedNode, findMoved, listPlaces, numberTree, pairNodes } from './tree-comparison.ts';

/** A node as `lineage:title`, or with its children as `[node, ...children]`. */
type Sketch = string | [string, ...Sketch[]];

const types = ['section', 'step', 'sub_step'];

/** Creates the rows of a tree. The id of a node is the name of the tree and its lineage. */
function createTree(name: string, sketches: readonly Sketch[]) {
  const rows: ComparedNode[] = [];
  const add = (siblings: readonly Sketch[], parent_id: string | null, level: number) => {
    for (const [order, sketch] of siblings.entries()) {
      const [text, ...children] = typeof sketch === 'string' ? [sketch] : sketch;
      const [lineage_id = '', title = lineage_id] = text.split(':');
      const _id = `${name}${lineage_id}`;
      rows.push({ _id, lineage_id, parent_id, order, title, node_type: types[level] ?? '' });
      add(children, _id, level + 1);
    }
  };
  add(sketches, null, 0);
  return finish(numberTree(rows.toReversed()));
}

function compare(from: readonly Sketch[], to: readonly Sketch[]) {
  const [one, other] = [createTree('-', from), createTree('+', to)];
  const pairs = finish(pairNodes(one, other));
  expect(finish(pairNodes(other, one))).toEqual(pairs);
  const moved = finish(findMoved(one, other, pairs));
  const places = finish(listPlaces(one, other, pairs));
  return {
    pairs: places.flatMap(({ from, to }) => (from && to ? [`${from.node._id}${to.node._id}`] : [])),
    moved: places.flatMap(({ to }) => (to && moved.has(to.node._id) ? [to.node._id] : [])),
    places: places.map(({ from, to }) => (to ?? from)?.node._id),
    numbers: places.map(({ to }) => to?.number),
  };
}

describe('nodes belong together', () => {
  test('by lineage, also with another title under another parent', () =>
    expect(compare([['a', 'b'], 'c'], ['a', ['c', 'b:other']]).pairs).toEqual(['-a+a', '-c+c', '-b+b']));

  test('by title and type under the same parent', () => {
    expect(compare([['a', 'b:T']], [['a', 'c:T']]).pairs).toEqual(['-a+a', '-b+c']);
    expect(compare([['a:S', 'b:T']], [['x:S', 'y:T']]).pairs).toEqual(['-a+x', '-b+y']);
  });

  test('not by a title that another sibling has, or under another parent', () => {
    expect(compare(['a:T', 'b:T'], ['c:T']).pairs).toEqual([]);
    expect(compare(['a:T'], ['c:T', 'd:T']).pairs).toEqual([]);
    expect(compare([['a', 'b:T'], 'c'], ['a', ['c', 'x:T']]).pairs).toEqual(['-a+a', '-c+c']);
  });

  test('by title if the sibling with the same title belongs to another node', () =>
    expect(compare(['a:T', 'b:T'], ['a:T', 'x:T']).pairs).toEqual(['-a+a', '-b+x']));

  test('not by lineage if they have different types', () =>
    expect(compare([['a', 'b']], ['a', 'b']).pairs).toEqual(['-a+a']));
});

describe('a node has moved', () => {
  test('with another parent', () =>
    expect(compare([['a', 'b'], 'c'], ['a', ['c', 'b']]).moved).toEqual(['+b']));

  test('among its siblings, and they have not', () => {
    expect(compare(['a', 'b', 'c', 'd'], ['b', 'c', 'd', 'a']).moved).toEqual(['+a']);
    expect(compare(['a', 'b', 'c', 'd'], ['d', 'a', 'b', 'c']).moved).toEqual(['+d']);
  });

  test('not if siblings were added or removed', () =>
    expect(compare(['a', 'b', 'c'], ['x', 'a', 'c', 'y']).moved).toEqual([]));

  test('not with its parent', () =>
    expect(
      compare(
        [
          ['a', 'b'],
          ['c', 'd'],
        ],
        [
          ['c', 'd'],
          ['a', 'b'],
        ],
      ).moved,
    ).toHaveLength(1));
});

describe('the list of nodes', () => {
  test('has removed nodes after their former predecessors', () => {
    const { places } = compare(['r', 'a', ['s', 't'], 'b'], ['b', 'x', 'a']);
    expect(places).toEqual(['-r', '+b', '+x', '+a', '-s', '-t']);
  });

  test('has the numbers of the public page', () =>
    expect(compare([], ['a', ['b', 'c', ['d', 'e']]]).numbers).toEqual(['1', '2', '2.1', '2.2', '2.2.1']));
});

test('each step yields about once for each of its nodes', () => {
  const sections = Array.from({ length: 50 }, (_, at): Sketch => [`section${at}`, `step${at}`]);
  const [one, other] = [createTree('-', sections), createTree('+', sections)];
  const pairs = finish(pairNodes(one, other));
  const rows = [...one.nodes.values()].map(({ node }) => node);
  const countPerNode = (work: SlicedWork<unknown>) => Math.floor(countYields(work) / rows.length);
  expect({
    numberTree: countPerNode(numberTree(rows)),
    pairNodes: countPerNode(pairNodes(one, other)),
    findMoved: countPerNode(findMoved(one, other, pairs)),
    listPlaces: countPerNode(listPlaces(one, other, pairs)),
    // pairs take one yield for each of both nodes, their lineage and their children
  }).toEqual({ numberTree: 1, pairNodes: 4, findMoved: 1, listPlaces: 2 });
});

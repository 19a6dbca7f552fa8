/**
 * Compares the trees of two versions: which nodes belong together, which have moved, and how to list them. All of it is
 * work in slices, because a tree may have 10,000 nodes.
 */
import type { SlicedWork } from '#libs/workers';
import { groupByParent, type NodePlace, type NodesByParent } from '../views.ts';
import { findLongestIncreasing } from './increasing-sequence.ts';
import { getLineageId, type NodeLineage } from './lineage.ts';

/** The fields of a node that decide which node it is in another version. */
export interface ComparedNode extends NodePlace, NodeLineage {
  node_type: string;
  title: string;
}

/** A node in its tree. */
export interface NumberedNode<Node> {
  node: Node;
  /** The number on the public page, e.g. "2.1". */
  number: string;
  /** The index in the reading order. */
  index: number;
}

/** A tree with its nodes by id in reading order. */
export interface NumberedTree<Node> {
  children: NodesByParent<Node>;
  nodes: ReadonlyMap<string, NumberedNode<Node>>;
}

/** Sorts and numbers the nodes of a document. */
export function* numberTree<Node extends ComparedNode>(rows: Iterable<Node>): SlicedWork<NumberedTree<Node>> {
  const children = groupByParent(rows);
  const nodes = new Map<string, NumberedNode<Node>>();
  function* add(parent: string | null, prefix: string): SlicedWork<void> {
    for (const [at, node] of (children.get(parent) ?? []).entries()) {
      const number = `${prefix}${at + 1}`;
      nodes.set(node._id, { node, number, index: nodes.size });
      yield;
      yield* add(node._id, `${number}.`);
    }
  }
  yield;
  yield* add(null, '');
  return { children, nodes };
}

/** The ids of nodes that belong together, in both directions. Versions have different ids. */
export type NodePairs = ReadonlyMap<string, string>;

/**
 * Pairs the nodes of two trees: by lineage and type, and the others under paired parents by type and title, if no other
 * node there has both. The order of the trees does not matter.
 */
export function* pairNodes<Node extends ComparedNode>(
  one: NumberedTree<Node>,
  other: NumberedTree<Node>,
): SlicedWork<NodePairs> {
  const pairs = new Map<string, string>();
  const parents: [string | null, string | null][] = [[null, null]];
  const pair = ({ _id: a }: Node, { _id: b }: Node) => {
    pairs.set(a, b).set(b, a);
    parents.push([a, b]);
  };
  const listUnpaired = (siblings: readonly Node[] = []) => siblings.filter(({ _id }) => !pairs.has(_id));
  yield* pairByKey(listNodes(one), listNodes(other), toLineageKey, pair);
  // the list grows while it is processed
  for (const [a, b] of parents) {
    yield;
    const [these, those] = [listUnpaired(one.children.get(a)), listUnpaired(other.children.get(b))];
    yield* pairByKey(these, those, toTitleKey, pair);
  }
  return pairs;
}

function listNodes<Node>({ nodes }: NumberedTree<Node>): Node[] {
  return [...nodes.values()].map(({ node }) => node);
}

const toLineageKey = (node: ComparedNode) => `${node.node_type} ${getLineageId(node)}`;
const toTitleKey = ({ node_type, title }: ComparedNode) => `${node_type} ${title}`;

/** Calls `pair` with two nodes that have a key which no other node of their lists has. */
function* pairByKey<Node>(
  one: readonly Node[],
  other: readonly Node[],
  toKey: (node: Node) => string,
  pair: (one: Node, other: Node) => void,
): SlicedWork<void> {
  const found = yield* groupByKey(other, toKey);
  for (const [key, nodes] of yield* groupByKey(one, toKey)) {
    const [a, b] = [nodes, found.get(key) ?? []];
    if (a.length === 1 && b.length === 1) pair(a[0] as Node, b[0] as Node);
    yield;
  }
}

function* groupByKey<Node>(
  nodes: readonly Node[],
  toKey: (node: Node) => string,
): SlicedWork<Map<string, Node[]>> {
  const groups = new Map<string, Node[]>();
  for (const node of nodes) {
    const key = toKey(node);
    const group = groups.get(key);
    if (group) group.push(node);
    else groups.set(key, [node]);
    yield;
  }
  return groups;
}

/**
 * Returns the ids of the nodes that have moved, in both trees: whose parent differs, or which are not in the longest
 * common subsequence of their siblings. Of several such subsequences, the order of the trees decides.
 */
export function* findMoved<Node extends ComparedNode>(
  one: NumberedTree<Node>,
  other: NumberedTree<Node>,
  pairs: NodePairs,
): SlicedWork<Set<string>> {
  const moved = new Set<string>();
  for (const [parent, siblings] of one.children) {
    const otherParent = parent === null ? null : pairs.get(parent);
    const counterparts = siblings.flatMap(({ _id }) => other.nodes.get(pairs.get(_id) ?? '') ?? []);
    yield;
    const stayed = counterparts.filter(({ node }) => node.parent_id === otherParent);
    const inOrder = findLongestIncreasing(stayed.map(({ index }) => index));
    const unmoved = new Set(stayed.filter((_, at) => inOrder.has(at)));
    yield;
    for (const counterpart of counterparts) {
      const { _id } = counterpart.node;
      if (!unmoved.has(counterpart)) moved.add(_id).add(pairs.get(_id) ?? _id);
    }
  }
  return moved;
}

/** A node of a comparison: with `from` and `to`, or with only one of them if it was removed or added. */
export interface ComparedPlace<Node> {
  from?: NumberedNode<Node>;
  to?: NumberedNode<Node>;
}

/**
 * Lists the nodes of two trees in the reading order of `to`. A node that only `from` has follows the node that precedes
 * it there.
 */
export function* listPlaces<Node>(
  from: NumberedTree<Node>,
  to: NumberedTree<Node>,
  pairs: NodePairs,
): SlicedWork<ComparedPlace<Node>[]> {
  const places: ComparedPlace<Node>[] = [];
  /** The removed nodes that follow each other node of `from`. */
  const removed = new Map<string, ComparedPlace<Node>[]>();
  let following = places;
  for (const [id, numbered] of from.nodes) {
    if (pairs.has(id)) {
      following = [];
      removed.set(id, following);
    } else following.push({ from: numbered });
    yield;
  }
  for (const [id, numbered] of to.nodes) {
    const counterpart = pairs.get(id) ?? '';
    const found = from.nodes.get(counterpart);
    places.push({ ...(found && { from: found }), to: numbered });
    for (const place of removed.get(counterpart) ?? []) places.push(place);
    yield;
  }
  return places;
}

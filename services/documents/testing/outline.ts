/** Converts trees to nested titles and back, so that tests can write and compare them. */
import type { Node } from '../contract.ts';

/** A tree as nested titles. A leaf is its title, any other node is `[title, children]`. */
export type Outline = (string | [string, Outline])[];

/** Converts the tree of a response to nested titles. */
export function toOutline(nodes: readonly Pick<Node, 'title' | 'children'>[]): Outline {
  return nodes.map(({ title, children }) => (children.length === 0 ? title : [title, toOutline(children)]));
}

/** Returns the node with this title from any level of the tree. Throws if there is none. */
export function findNode(nodes: readonly Node[], title: string): Node {
  const queue = [...nodes];
  for (let node = queue.shift(); node; node = queue.shift()) {
    if (node.title === title) return node;
    queue.push(...node.children);
  }
  throw new Error(`There is no node ${title}`);
}

/** Creates the tree of a request from nested titles: sections, steps and sub-steps. */
export function toTreeInput(titles: Outline, level = 0): unknown[] {
  const node_type = ['section', 'step', 'sub_step'][level];
  return titles.map((entry) =>
    typeof entry === 'string'
      ? { node_type, title: entry }
      : { node_type, title: entry[0], children: toTreeInput(entry[1], level + 1) },
  );
}

/** Trees as tests write and compare them. */
import type { TestResponse } from '#libs/testing';
import type { Node } from '../contract.ts';

/** A tree as nested titles: a leaf is its title, any other node `[title, children]`. */
export type Outline = (string | [string, Outline])[];

/** The titles of a tree as it was answered. */
export function outline(nodes: readonly Pick<Node, 'title' | 'children'>[]): Outline {
  return nodes.map(({ title, children }) => (children.length === 0 ? title : [title, outline(children)]));
}

/** The node with this title, anywhere in the tree; throws when there is none. */
export function named(nodes: readonly Node[], title: string): Node {
  const waiting = [...nodes];
  for (let node = waiting.shift(); node; node = waiting.shift()) {
    if (node.title === title) return node;
    waiting.push(...node.children);
  }
  throw new Error(`There is no node ${title}`);
}

/** A tree to be sent: sections of steps of sub-steps, by their titles. */
export function treeOf(titles: Outline, level = 0): unknown[] {
  const node_type = ['section', 'step', 'sub_step'][level];
  return titles.map((one) =>
    typeof one === 'string'
      ? { node_type, title: one }
      : { node_type, title: one[0], children: treeOf(one[1], level + 1) },
  );
}

/** Status and code of an answer. */
export function outcome({ status, body }: TestResponse): [number, string | undefined] {
  return [status, body?.code];
}

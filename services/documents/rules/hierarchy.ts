/** Defines the hierarchy of nodes: sections contain steps, steps contain sub-steps. */
import { type NodeType, nodeType, type TreeInput } from '../shapes.ts';

/** The maximum number of nodes in a document. */
export const maxNodes = 10_000;

/** The maximum size of all rich text in a document, bytes of JSON. */
export const maxContentBytes = 32 * 1024 * 1024;

/** The size of a tree. */
export interface TreeSize {
  node_count: number;
  /** The size of all rich text, bytes of JSON. */
  content_bytes: number;
}

/** Returns the size of a node's rich text, bytes. */
export function countBytes(content: string | null): number {
  return content === null ? 0 : Buffer.byteLength(content);
}

const parentTypes: Record<NodeType, NodeType | null> = { section: null, step: 'section', sub_step: 'step' };

/** Returns the type of the children of a node of this type; undefined for a sub-step. */
export function getChildType(type: NodeType): NodeType | undefined {
  return nodeType.options.find((child) => parentTypes[child] === type);
}

/** Returns true if a node of this type can be a child of this parent type; null is the top level. */
export function canBeChildOf(type: NodeType, parent: NodeType | null): boolean {
  return parentTypes[type] === parent;
}

/** A node of a tree in a request, with its position. */
export interface PlacedNode {
  input: TreeInput;
  /** The index of the parent in the list of placed nodes; null at the top level. */
  parent: number | null;
  order: number;
}

/** Flattens a tree to a list, parents first, and collects the paths of misplaced nodes. */
export function placeNodes(tree: readonly TreeInput[]): { nodes: PlacedNode[]; misplaced: string[] } {
  const nodes: PlacedNode[] = [];
  const misplaced: string[] = [];
  const place = (
    siblings: readonly TreeInput[],
    parent: number | null,
    type: NodeType | null,
    path: string,
  ) => {
    for (const [position, input] of siblings.entries()) {
      const nodePath = `${path}/${position}`;
      if (!canBeChildOf(input.node_type, type)) {
        misplaced.push(nodePath);
        continue;
      }
      nodes.push({ input, parent, order: input.order ?? position });
      place(input.children ?? [], nodes.length - 1, input.node_type, `${nodePath}/children`);
    }
  };
  place(tree, null, null, 'body/nodes');
  return { nodes, misplaced };
}

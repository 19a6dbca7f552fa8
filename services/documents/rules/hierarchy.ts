/** The hierarchy: steps stand in sections, sub-steps in steps. */
import { type NodeType, nodeType, type TreeInput } from '../shapes.ts';

/** The most nodes of one document. */
export const maxNodes = 10_000;

/** The most rich text of one document, bytes of JSON. */
export const maxContentBytes = 32 * 1024 * 1024;

/** How large a tree is. */
export interface Size {
  node_count: number;
  /** Bytes of all rich text as JSON. */
  content_bytes: number;
}

/** The bytes of a node's rich text. */
export function bytesOf(content: string | null): number {
  return content === null ? 0 : Buffer.byteLength(content);
}

const parentTypes: Record<NodeType, NodeType | null> = { section: null, step: 'section', sub_step: 'step' };

/** The type of the nodes that stand under one of this type; nothing for a leaf. */
export function childTypeOf(type: NodeType): NodeType | undefined {
  return nodeType.options.find((one) => parentTypes[one] === type);
}

/** Whether a node of this type may stand under a parent of that type (null: at the top). */
export function canStandUnder(type: NodeType, parent: NodeType | null): boolean {
  return parentTypes[type] === parent;
}

/** A node of a tree that is sent as a whole, with its place. */
export interface Placed {
  input: TreeInput;
  /** Index of the parent among the placed nodes; null at the top. */
  parent: number | null;
  order: number;
}

/** The tree as a list, parents first, and the paths of nodes that stand where they must not. */
export function placed(tree: readonly TreeInput[]): { nodes: Placed[]; misplaced: string[] } {
  const nodes: Placed[] = [];
  const misplaced: string[] = [];
  const place = (
    siblings: readonly TreeInput[],
    parent: number | null,
    type: NodeType | null,
    path: string,
  ) => {
    for (const [position, input] of siblings.entries()) {
      const here = `${path}/${position}`;
      if (!canStandUnder(input.node_type, type)) {
        misplaced.push(here);
        continue;
      }
      nodes.push({ input, parent, order: input.order ?? position });
      place(input.children ?? [], nodes.length - 1, input.node_type, `${here}/children`);
    }
  };
  place(tree, null, null, 'body/nodes');
  return { nodes, misplaced };
}

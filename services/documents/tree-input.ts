/** Converts the tree in a request to the nodes of a document, and checks its structure and size. */
import { listErrors, newId } from '#libs/contract';
import { ContentTooLarge, NodeHierarchy, TooManyNodes } from './contract.ts';
import { countBytes, maxContentBytes, maxNodes, placeNodes, type TreeSize } from './rules/hierarchy.ts';
import type { TreeInput } from './shapes.ts';
import type { DocumentRow, NodeRow } from './store/collections.ts';

/**
 * Returns the nodes of a tree in reading order, each with a new id, and the size of the tree. Throws
 * `NodeHierarchy` with the path of every misplaced node, `TooManyNodes` or `ContentTooLarge`.
 */
export function flattenTree(
  document: Pick<DocumentRow, '_id' | 'organization_id'>,
  input: readonly TreeInput[],
  created_by: string,
  at: Date,
): TreeSize & { nodes: NodeRow[] } {
  const { nodes: tree, misplaced } = placeNodes(input);
  if (misplaced.length > 0)
    throw listErrors(
      NodeHierarchy,
      misplaced.map((path) => ({ path, message: NodeHierarchy.title })),
    );
  const ids = tree.map(() => newId());
  const nodes = tree.map(({ input: { node_type, title, content }, parent, order }, index): NodeRow => {
    return {
      _id: ids[index] ?? newId(),
      organization_id: document.organization_id,
      document_id: document._id,
      parent_id: parent === null ? null : (ids[parent] ?? null),
      node_type,
      title,
      content: content ?? null,
      order,
      created_by,
      created_at: at,
      updated_at: at,
    };
  });
  const content_bytes = nodes.reduce((sum, { content }) => sum + countBytes(content), 0);
  return { nodes, ...checkLimits({ node_count: nodes.length, content_bytes }) };
}

/** Returns the size, or throws `TooManyNodes` or `ContentTooLarge` with the limit. */
export function checkLimits({ node_count, content_bytes }: TreeSize): TreeSize {
  if (node_count > maxNodes) throw TooManyNodes(undefined, { extra: { limit: maxNodes } });
  if (content_bytes > maxContentBytes)
    throw ContentTooLarge(undefined, { extra: { limit_bytes: maxContentBytes } });
  return { node_count, content_bytes };
}

/** Planting: a whole tree as it was sent becomes the nodes of a document, if it is well-formed and not too large. */
import { newId } from '#libs/contract';
import { ContentTooLarge, NodeHierarchy, TooManyNodes } from './contract.ts';
import { bytesOf, maxContentBytes, maxNodes, placed, type Size } from './rules/hierarchy.ts';
import type { TreeInput } from './shapes.ts';
import type { DocumentRow, NodeRow } from './store/collections.ts';

/**
 * The nodes of a tree that is sent as a whole, each with a new id, in the order of reading, and their size. Throws
 * `NodeHierarchy` with the path of every node that stands where it must not, `TooManyNodes`, `ContentTooLarge`.
 */
export function flattenTree(
  document: Pick<DocumentRow, '_id' | 'organization_id'>,
  input: readonly TreeInput[],
  created_by: string,
  at: Date,
): Size & { nodes: NodeRow[] } {
  const { nodes: tree, misplaced } = placed(input);
  if (misplaced.length > 0)
    throw NodeHierarchy(undefined, {
      extra: { errors: misplaced.map((path) => ({ path, message: NodeHierarchy.title })) },
    });
  const ids = tree.map(() => newId());
  const nodes = tree.map(({ input: { node_type, title, content }, parent, order }, index): NodeRow => {
    return {
      _id: ids[index] ?? newId(),
      organization_id: document.organization_id,
      document_id: document._id,
      parent_id: parent === null ? null : (ids[parent] ?? null),
      node_type,
      title,
      content: content ? JSON.stringify(content) : null,
      order,
      created_by,
      created_at: at,
      updated_at: at,
    };
  });
  const content_bytes = nodes.reduce((sum, { content }) => sum + bytesOf(content), 0);
  return { nodes, ...withinLimits({ node_count: nodes.length, content_bytes }) };
}

/** The size, if a document may be so large; `TooManyNodes` or `ContentTooLarge`, which name the limit. */
export function withinLimits({ node_count, content_bytes }: Size): Size {
  if (node_count > maxNodes) throw TooManyNodes(undefined, { extra: { limit: maxNodes } });
  if (content_bytes > maxContentBytes)
    throw ContentTooLarge(undefined, { extra: { limit_bytes: maxContentBytes } });
  return { node_count, content_bytes };
}

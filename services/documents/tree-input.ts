/** Converts the tree in a request to the nodes of a document, and checks its structure and size. */
import { listErrors, newId } from '#libs/contract';
import { runInSlices, type SlicedWork } from '#libs/workers';
import { ContentTooLarge, NodeHierarchy, TooManyNodes } from './contract.ts';
import { toAssetIds } from './rules/asset-references.ts';
import { countBytes, maxContentBytes, maxNodes, placeNodes, type TreeSize } from './rules/hierarchy.ts';
import type { TreeInput } from './shapes.ts';
import type { DocumentRow, NodeRow } from './store/collections.ts';

/** The nodes of a tree, and its size. */
type FlatTree = TreeSize & { nodes: NodeRow[] };

/** What a node keeps when a request replaces the tree. */
export type NodeIdentity = Pick<NodeRow, '_id' | 'created_by' | 'created_at'>;

/**
 * Resolves with the nodes of a tree, in reading order, and its size. Works in slices, so that other requests are served
 * meanwhile. A node keeps the identity that `existing` has for its lineage id; any other node gets a new `_id`. Errors:
 * `NodeHierarchy` with the path of every misplaced node, `TooManyNodes` or `ContentTooLarge`.
 */
export function flattenTree(
  document: Pick<DocumentRow, '_id' | 'organization_id'>,
  input: readonly TreeInput[],
  created_by: string,
  at: Date,
  existing: ReadonlyMap<string, NodeIdentity> = new Map(),
): Promise<FlatTree> {
  return runInSlices(flatten(document, input, created_by, at, existing));
}

function* flatten(
  document: Pick<DocumentRow, '_id' | 'organization_id'>,
  input: readonly TreeInput[],
  created_by: string,
  at: Date,
  existing: ReadonlyMap<string, NodeIdentity>,
): SlicedWork<FlatTree> {
  const { nodes: tree, misplaced } = placeNodes(input);
  if (misplaced.length > 0)
    throw listErrors(
      NodeHierarchy,
      misplaced.map((path) => ({ path, message: NodeHierarchy.title })),
    );
  const nodes: NodeRow[] = [];
  let content_bytes = 0;
  for (const { input, parent, order } of tree) {
    const { node_type, title, content, lineage_id } = input;
    const known = lineage_id === undefined ? undefined : existing.get(lineage_id);
    const identity = known ?? { _id: newId(), created_by, created_at: at };
    nodes.push({
      _id: identity._id,
      lineage_id: lineage_id ?? identity._id,
      organization_id: document.organization_id,
      document_id: document._id,
      parent_id: parent === null ? null : (nodes[parent]?._id ?? null),
      node_type,
      title,
      content: content ?? null,
      ...toAssetIds(content ?? null),
      order,
      created_by: identity.created_by,
      created_at: identity.created_at,
      updated_at: at,
    });
    content_bytes += countBytes(content ?? null);
    yield;
  }
  return { nodes, ...checkLimits({ node_count: nodes.length, content_bytes }) };
}

/** Returns the size, or throws `TooManyNodes` or `ContentTooLarge` with the limit. */
export function checkLimits({ node_count, content_bytes }: TreeSize): TreeSize {
  if (node_count > maxNodes) throw TooManyNodes(undefined, { extra: { limit: maxNodes } });
  if (content_bytes > maxContentBytes)
    throw ContentTooLarge(undefined, { extra: { limit_bytes: maxContentBytes } });
  return { node_count, content_bytes };
}

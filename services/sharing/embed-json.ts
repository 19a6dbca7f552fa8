/** Writes the JSON of a public link as text, so that stored rich text is inserted without parsing it. */
import { getAssetId, walk } from '#libs/rich-text';
import { groupByParent, type NodesByParent } from '../documents/contract.ts';
import type { Control } from './rules/links.ts';
import type { LinkDocument } from './store/public-links.ts';
import type { NodeRow } from './store/share-tokens.ts';

/**
 * The document with all its nodes as JSON text, in the shape of `EmbeddedDocument`. The address of an asset is
 * `assetAddress` and its id.
 */
export function embedJson(
  document: LinkDocument,
  rows: readonly NodeRow[],
  { control, assetAddress = '' }: { control?: Control | undefined; assetAddress?: string } = {},
): string {
  const { _id: id, title, version, department, status } = document;
  const head = JSON.stringify({ id, title, version, department, status, control }).slice(0, -1);
  const toContentJson = (row: NodeRow) => resolveAssets(row, assetAddress);
  return `${head},"nodes":${toListJson(null, { children: groupByParent(rows), toContentJson })}}`;
}

interface Tree {
  children: NodesByParent<NodeRow>;
  toContentJson(row: NodeRow): string;
}

function toListJson(parent: string | null, tree: Tree): string {
  return `[${(tree.children.get(parent) ?? []).map((row) => toNodeJson(row, tree)).join(',')}]`;
}

function toNodeJson(row: NodeRow, tree: Tree): string {
  const { _id: id, node_type, title, order } = row;
  const head = JSON.stringify({ id, node_type, title }).slice(0, -1);
  const [content, children] = [tree.toContentJson(row), toListJson(id, tree)];
  return `${head},"content":${content},"order":${order},"children":${children}}`;
}

/** Returns the rich text as it is stored, unless it names assets. */
function resolveAssets({ content, asset_ids = [] }: NodeRow, address: string): string {
  if (content === null || asset_ids.length === 0) return content ?? 'null';
  const root = JSON.parse(content);
  for (const { node } of walk(root)) {
    const id = node.type === 'image' ? getAssetId(node.attrs?.src) : undefined;
    if (node.attrs && id !== undefined) node.attrs.src = address + id;
  }
  return JSON.stringify(root);
}

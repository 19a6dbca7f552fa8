/** Documents as the API returns them, reduced to what their content hash covers, and how the service hashes them. */
import { computeContentHash } from '../../services/documents/content-hash.ts';
import type { CanonicalNode } from '../../services/documents/rules/canonical-content.ts';

/** A document with its tree. */
export interface SampleDocument {
  title: string;
  version: string | null;
  department: string | null;
  nodes: SampleNode[];
}

/** A node with its children. */
export interface SampleNode {
  node_type: string;
  title: string;
  content: object | null;
  children: SampleNode[];
}

/** Computes the content hash of a document as the service does. */
export function hashDocument(document: SampleDocument): Promise<string> {
  return computeContentHash(document, toRows(document.nodes));
}

/** Converts a tree to rows of the collection of nodes, with new ids, in no particular order. */
export function toRows(nodes: readonly SampleNode[], parent: string | null = null): CanonicalNode[] {
  return nodes
    .flatMap(({ node_type, title, content, children }, order) => {
      const _id = crypto.randomUUID();
      const text = content === null ? null : JSON.stringify(content);
      const row = { _id, parent_id: parent, order, node_type, title, content: text };
      return [...toRows(children, _id), row];
    })
    .reverse();
}

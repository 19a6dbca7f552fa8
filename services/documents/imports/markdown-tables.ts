/** Joins the pieces of an HTML table. Markdown splits the table at its empty lines. */
import type { Element } from 'hast';
import { type HastNode, isHastElement } from '#libs/rich-text';

/** A node of the tree that mdast-util-to-hast creates; `raw` is HTML as it is written. */
export type MarkdownNode = HastNode | { type: 'raw'; value: string };

/** Stands for a node of Markdown in the HTML. */
const standIn = 'markdown-node';

/** Replaces each table that is taken apart by its parsed HTML. Other nodes stay as they are. */
export function joinTables(
  nodes: readonly MarkdownNode[],
  parse: (html: string) => HastNode[],
): MarkdownNode[] {
  const joined: MarkdownNode[] = [];
  let searched = 0;
  for (let at = 0; at < nodes.length; at++) {
    const node = nodes[at];
    if (node?.type === 'raw' && at >= searched && /<table/i.test(node.value)) {
      const { end, isTable } = findTableEnd(nodes, at);
      searched = end;
      if (isTable) {
        joined.push(...parseTable(nodes.slice(at, end), parse));
        at = end - 1;
        continue;
      }
    }
    if (node) joined.push(node);
  }
  return joined;
}

/** A heading ends what is open before it, so that it becomes a section or step. */
export function isHeading(node: MarkdownNode): boolean {
  return node.type === 'element' && /^h[1-6]$/.test(node.tagName);
}

/**
 * Finds the end of the table that begins in the node at `from`. `end` is the first node after it, or else the first
 * one that cannot be in it.
 */
function findTableEnd(nodes: readonly MarkdownNode[], from: number): { end: number; isTable: boolean } {
  let depth = 0;
  for (let at = from; at < nodes.length; at++) {
    const node = nodes[at];
    if (node && isHeading(node)) return { end: at, isTable: false };
    if (node?.type !== 'raw') continue;
    depth += countMatches(node.value, /<table(?=[\s>])/gi) - countMatches(node.value, /<\/table\s*>/gi);
    if (depth <= 0) return { end: at + 1, isTable: at > from };
  }
  return { end: nodes.length, isTable: false };
}

/** Parses HTML with nodes of Markdown in it. No node of Markdown is lost. */
function parseTable(nodes: readonly MarkdownNode[], parse: (html: string) => HastNode[]): HastNode[] {
  const markdown = new Map<string, HastNode>();
  const pieces = nodes.map((node, at) => {
    if (node.type === 'raw' || isBlankText(node)) return node.value;
    markdown.set(String(at), node);
    return `<${standIn} data-at="${at}"></${standIn}>`;
  });
  const table = fill(parse(pieces.join('')), markdown);
  return [...table, ...markdown.values()];
}

/** Takes each node out of `markdown`, so that none is there twice. */
function fill(nodes: readonly HastNode[], markdown: Map<string, HastNode>): Element['children'] {
  // the children of an element are elements, texts and comments
  return (nodes as Element['children']).flatMap((node) => {
    if (!isHastElement(node)) return [node];
    const children = fill(node.children, markdown);
    if (node.tagName !== standIn) return [{ ...node, children }];
    const at = String(node.properties.dataAt);
    const found = markdown.get(at);
    markdown.delete(at);
    return found ? ([found, ...children] as Element['children']) : children;
  });
}

function isBlankText(node: HastNode): node is HastNode & { type: 'text' } {
  return node.type === 'text' && node.value.trim() === '';
}

function countMatches(text: string, pattern: RegExp): number {
  return text.match(pattern)?.length ?? 0;
}

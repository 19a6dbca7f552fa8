/** Normalizes any rich-text tree to a structure that renderers can rely on, without losing text. */
import { getAttributeText } from './attribute-text.ts';
import { resolveMarks, resolveNode } from './names.ts';
import type { RichText } from './tree.ts';
import { walk } from './tree.ts';

const textblocks = new Set(['paragraph', 'heading', 'codeBlock']);
const lists = new Set(['bulletList', 'orderedList', 'taskList']);
const items = new Set(['listItem', 'taskItem']);
const cells = new Set(['tableCell', 'tableHeader']);
const quotes = new Set(['blockquote', 'callout']);
const leaves = new Set(['hardBreak', 'image']);
const inline = new Set(['text', 'hardBreak', 'mention', 'inlineMath']);
/** Levels of nested blocks; deeper content is reduced to its text. */
const maxDepth = 64;

/** Whether a node contains inline content (paragraph, heading or code block) rather than blocks. */
export function isTextblock(node: RichText): boolean {
  return textblocks.has(node.type);
}

/**
 * Returns a tree with the same text and known nodes only: a doc of paragraphs, headings, code blocks, quotes,
 * callouts, rules, lists of items, and tables of rows of cells. Text, hard breaks and images occur only in textblocks.
 * An unknown node is replaced by its children, a mention or formula by its text. Types and attributes have the names
 * of Tiptap.
 */
export function toWellFormed(content: RichText): RichText {
  return { type: 'doc', content: toBlocks([content], 0) };
}

/** Converts nodes to blocks: wraps loose text in `around` or in paragraphs, and lifts blocks out of text. */
function toBlocks(nodes: RichText[], level: number, around?: RichText): RichText[] {
  const blocks: RichText[] = [];
  let line: RichText[] = [];
  const endLine = () => {
    if (line.length > 0) blocks.push({ ...(around ?? { type: 'paragraph' }), content: line });
    line = [];
  };
  const add = (written: RichText, depth: number) => {
    const node = resolveNode(written);
    const normalized = depth > maxDepth ? undefined : normalizeBlock(node, depth);
    const isSeparate = !around && !inline.has(node.type);
    if (normalized || isSeparate) endLine();
    if (normalized) for (const each of normalized) blocks.push(each);
    else if (depth > maxDepth) line.push({ type: 'text', text: joinTexts(node) });
    else {
      if (leaves.has(node.type)) line.push(toLeaf(node));
      if (node.text !== undefined) line.push(toTextNode(node, node.text));
      else line.push(...toTextFromAttributes(node));
      for (const child of node.content ?? []) add(child, depth + 1);
    }
    if (isSeparate) endLine();
  };
  for (const node of nodes) add(node, level);
  endLine();
  return blocks.length === 0 && around ? [{ ...around, content: [] }] : blocks;
}

/** Normalizes a known block; an empty quote, callout, list or table gives no block. Undefined for other nodes. */
function normalizeBlock(node: RichText, level: number): RichText[] | undefined {
  const children = getChildren(node);
  if (isTextblock(node)) {
    // a fast path, because most textblocks hold only texts
    if (level < maxDepth && children.every(isText))
      return [{ ...withoutContent(node), content: children.map((child) => toTextNode(child, child.text)) }];
    return toBlocks(children, level + 1, withoutContent(node));
  }
  if (node.type === 'blockMath') return toBlocks([{ ...node, type: 'inlineMath' }], level + 1);
  if (node.type === 'horizontalRule') return [withoutContent(node), ...toBlocks(children, level + 1)];
  if (quotes.has(node.type)) return omitIfEmpty(node, toBlocks(children, level + 1));
  if (lists.has(node.type)) return omitIfEmpty(node, wrapParts(children, items, 'listItem', level));
  if (node.type !== 'table') return undefined;
  const rows = children.map(resolveNode).flatMap((child) => {
    const row = child.type === 'tableRow' ? child : { type: 'tableRow', content: [child] };
    return omitIfEmpty(row, wrapParts(getChildren(row), cells, 'tableCell', level + 1));
  });
  return omitIfEmpty(node, rows);
}

/** Normalizes the children of a list or row; wraps a child whose type is not in `wanted` in a `wrapper`. */
function wrapParts(children: RichText[], wanted: Set<string>, wrapper: string, level: number): RichText[] {
  return children.map(resolveNode).map((child) => {
    if (!wanted.has(child.type)) return { type: wrapper, content: toBlocks([child], level + 1) };
    return { ...withoutContent(child), content: toBlocks(getChildren(child), level + 1) };
  });
}

function omitIfEmpty(node: RichText, content: RichText[]): RichText[] {
  return content.length === 0 ? [] : [{ ...withoutContent(node), content }];
}

/** The node's type and attributes. */
function withoutContent(node: RichText): RichText {
  return node.attrs ? { type: node.type, attrs: node.attrs } : { type: node.type };
}

/** The children of a node; if a node of another type than `text` has text, that text is its first child. */
function getChildren(node: RichText): RichText[] {
  const children = node.content ?? [];
  if (node.text === undefined) return children;
  return [toTextNode(node, node.text), ...children];
}

/** A hard break or image with its marks; an image can be a link. */
function toLeaf(node: RichText): RichText {
  return node.marks ? { ...withoutContent(node), marks: resolveMarks(node.marks) } : withoutContent(node);
}

/** Whether a node is a text without children, which only malformed texts have. */
function isText(node: RichText): node is RichText & { text: string } {
  return node.type === 'text' && node.text !== undefined && !node.content;
}

function toTextNode(node: RichText, text: string): RichText {
  return node.marks ? { type: 'text', text, marks: resolveMarks(node.marks) } : { type: 'text', text };
}

/** The text of a mention or formula, if it has any; LaTeX is shown as code. */
function toTextFromAttributes(node: RichText): RichText[] {
  const text = getAttributeText(node);
  if (text === '') return [];
  if (node.type === 'mention') return [toTextNode(node, text)];
  return [toTextNode({ ...node, marks: [...(node.marks ?? []), { type: 'code' }] }, text)];
}

function joinTexts(content: RichText): string {
  const texts: string[] = [];
  for (const { node } of walk(content)) {
    const text = node.text ?? getAttributeText(resolveNode(node));
    if (text !== '') texts.push(text);
  }
  return texts.join(' ');
}

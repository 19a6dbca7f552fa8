/** Brings any tree into the form that readers may rely on, without losing a word of it. */
import type { RichText } from './tree.ts';
import { walk } from './tree.ts';

const textblocks = new Set(['paragraph', 'heading', 'codeBlock']);
const lists = new Set(['bulletList', 'orderedList', 'taskList']);
const items = new Set(['listItem', 'taskItem']);
const cells = new Set(['tableCell', 'tableHeader']);
const leaves = new Set(['hardBreak', 'image']);
/** Levels of blocks within blocks; what lies deeper is kept as text. */
const maxDepth = 64;

/** Whether a node holds a line of text (paragraph, heading or code) rather than blocks. */
export function isTextblock(node: RichText): boolean {
  return textblocks.has(node.type);
}

/**
 * The same text in a tree of known nodes only: a doc of paragraphs, headings, code blocks, quotes, rules, lists of items and
 * tables of rows of cells; text, hard breaks and images are only in textblocks; unknown nodes give their children.
 */
export function toWellFormed(content: RichText): RichText {
  return { type: 'doc', content: toBlocks([content], 0) };
}

/** The nodes as blocks: loose text is put into `around`, or else into paragraphs, and blocks within text are lifted out of it. */
function toBlocks(nodes: RichText[], level: number, around?: RichText): RichText[] {
  const found: RichText[] = [];
  let line: RichText[] = [];
  const endLine = () => {
    if (line.length > 0) found.push({ ...(around ?? { type: 'paragraph' }), content: line });
    line = [];
  };
  const add = (node: RichText, depth: number) => {
    const shaped = depth > maxDepth ? undefined : normalizeBlock(node, depth);
    const alone = !around && node.type !== 'text' && node.type !== 'hardBreak';
    if (shaped || alone) endLine();
    if (shaped) for (const one of shaped) found.push(one);
    else if (depth > maxDepth) line.push({ type: 'text', text: joinTexts(node) });
    else {
      if (leaves.has(node.type)) line.push(toLeaf(node));
      if (node.text !== undefined) line.push(toTextNode(node, node.text));
      for (const child of node.content ?? []) add(child, depth + 1);
    }
    if (alone) endLine();
  };
  for (const node of nodes) add(node, level);
  endLine();
  return found.length === 0 && around ? [{ ...around, content: [] }] : found;
}

/** A known block in its right form (none when it is empty and has no meaning then), or undefined for any other node. */
function normalizeBlock(node: RichText, level: number): RichText[] | undefined {
  const children = getChildren(node);
  if (isTextblock(node)) return toBlocks(children, level + 1, withoutContent(node));
  if (node.type === 'horizontalRule') return [withoutContent(node), ...toBlocks(children, level + 1)];
  if (node.type === 'blockquote') return omitIfEmpty(node, toBlocks(children, level + 1));
  if (lists.has(node.type)) return omitIfEmpty(node, wrapParts(children, items, 'listItem', level));
  if (node.type !== 'table') return undefined;
  const rows = children.flatMap((child) => {
    const row = child.type === 'tableRow' ? child : { type: 'tableRow', content: [child] };
    return omitIfEmpty(row, wrapParts(getChildren(row), cells, 'tableCell', level + 1));
  });
  return omitIfEmpty(node, rows);
}

/** The children as the parts that their parent asks for; whatever is no such part is put into one. */
function wrapParts(children: RichText[], wanted: Set<string>, otherwise: string, level: number): RichText[] {
  return children.map((child) => {
    if (!wanted.has(child.type)) return { type: otherwise, content: toBlocks([child], level + 1) };
    return { ...withoutContent(child), content: toBlocks(getChildren(child), level + 1) };
  });
}

function omitIfEmpty(node: RichText, content: RichText[]): RichText[] {
  return content.length === 0 ? [] : [{ ...withoutContent(node), content }];
}

/** The node's name and attributes only. */
function withoutContent(node: RichText): RichText {
  return node.attrs ? { type: node.type, attrs: node.attrs } : { type: node.type };
}

/** What is in a node: text that sits on a node of another type counts as its first child. */
function getChildren(node: RichText): RichText[] {
  const children = node.content ?? [];
  if (node.text === undefined) return children;
  return [toTextNode(node, node.text), ...children];
}

/** A hard break or image, with its marks: an image may be a link. */
function toLeaf(node: RichText): RichText {
  return node.marks ? { ...withoutContent(node), marks: node.marks } : withoutContent(node);
}

function toTextNode(node: RichText, text: string): RichText {
  return node.marks ? { type: 'text', text, marks: node.marks } : { type: 'text', text };
}

function joinTexts(content: RichText): string {
  const texts: string[] = [];
  for (const { node } of walk(content)) if (node.text !== undefined) texts.push(node.text);
  return texts.join(' ');
}

/** Converts rich text to a Markdown tree (mdast) that contains only plain paragraphs and bullet lists. */
import type { BlockContent, List, ListItem, Paragraph } from 'mdast';
import { getCallout } from './callout.ts';
import { createGrid, type GridCell } from './grid.ts';
import { getHref, safeHref } from './link.ts';
import { collapseWhitespace, removeInvalidCharacters, toText } from './text.ts';
import type { RichText } from './tree.ts';
import { walk } from './tree.ts';
import { isTextblock, toWellFormed } from './well-formed.ts';

const lists = new Set(['bulletList', 'orderedList', 'taskList']);
const noBreakSpace = '\u00a0';

/**
 * Converts a tree to paragraphs and bullet lists. Headings, quotes and code become paragraphs; each table row
 * becomes one paragraph `a | b`; a link becomes `text (url)`, an image its alt text. Task items keep
 * `checked`; the first paragraph of a callout begins with its signal word. Marks and rules are dropped.
 */
export function toMdast(content: RichText): BlockContent[] {
  return blocks(toWellFormed(content));
}

function blocks(parent: RichText): BlockContent[] {
  return (parent.content ?? []).flatMap(block);
}

function block(node: RichText): BlockContent[] {
  if (lists.has(node.type)) return list(node);
  if (node.type === 'table') return createGrid(node).rows.flatMap((row) => paragraph([toRowLine(row)]));
  if (node.type === 'callout') return callout(node);
  if (node.type === 'codeBlock') return toCodeParagraphs(node);
  if (isTextblock(node)) return paragraph(toLines(node));
  return blocks(node);
}

/** The signal word is its own paragraph if the callout does not begin with text, e.g. before a list. */
function callout(node: RichText): BlockContent[] {
  const { signalWord } = getCallout(node);
  const children = blocks(node);
  const [first, ...rest] = children;
  const start = beginsWithText(node) && first?.type === 'paragraph' ? first.children[0] : undefined;
  if (first?.type !== 'paragraph' || start?.type !== 'text') return [...paragraph([signalWord]), ...children];
  const labelled = { ...start, value: `${signalWord}: ${start.value}` };
  return [{ ...first, children: [labelled, ...first.children.slice(1)] }, ...rest];
}

function beginsWithText({ content: [first] = [] }: RichText): boolean {
  return first?.type === 'paragraph' || first?.type === 'heading';
}

function list(node: RichText): List[] {
  const children = (node.content ?? []).flatMap(listItem);
  if (children.length === 0) return [];
  return [{ type: 'list', ordered: false, spread: children.some((item) => item.spread), children }];
}

/** Converts a list item; it is spread only if it has several paragraphs, which would otherwise merge. */
function listItem(item: RichText): ListItem[] {
  const children = blocks(item);
  if (children.length === 0) return [];
  const spread = children.filter((child) => child.type === 'paragraph').length > 1;
  if (item.type !== 'taskItem') return [{ type: 'listItem', spread, children }];
  const head: Paragraph[] = children[0]?.type === 'paragraph' ? [] : [{ type: 'paragraph', children: [] }];
  return [
    { type: 'listItem', spread, checked: item.attrs?.checked === true, children: [...head, ...children] },
  ];
}

/** Writes `a | b`; columns that a joined cell covers are empty, so that each column stays in its place. */
function toRowLine(row: GridCell[]): string {
  const cells = row.flatMap(({ cell, span }) => {
    const lines = [...walk(cell)].flatMap(({ node }) => {
      if (node.type === 'callout') return [`${getCallout(node).signalWord}:`];
      return isTextblock(node) ? toLines(node) : [];
    });
    return [lines.join(' '), ...Array<string>(span - 1).fill('')];
  });
  return cells.some((cell) => cell !== '') ? cells.join(' | ').trim() : '';
}

/**
 * Splits code into paragraphs at blank lines; indentation becomes no-break spaces, because Markdown drops
 * other spaces.
 */
function toCodeParagraphs(node: RichText): Paragraph[] {
  const text = (node.content ?? []).map(toText).join('');
  const lines = text.split(/\r\n|\n|\r/).map((line) => {
    return line
      .trimEnd()
      .replace(/^[ \t]+/, (indent) => noBreakSpace.repeat(indent.replaceAll('\t', '    ').length));
  });
  const paragraphs: string[][] = [[]];
  for (const line of lines) {
    if (line === '') paragraphs.push([]);
    else paragraphs.at(-1)?.push(line);
  }
  return paragraphs.flatMap(paragraph);
}

/** Splits a textblock at hard breaks, collapses white space and drops empty lines. */
function toLines(node: RichText): string[] {
  const lines = [''];
  const leaves = node.content ?? [];
  for (let start = 0, end = 0; start < leaves.length; start = end) {
    const href = getHrefAt(leaves, start);
    end = start + 1;
    while (href !== undefined && getHrefAt(leaves, end) === href) end += 1;
    for (const [index, text] of appendTarget(leaves.slice(start, end), href).entries()) {
      if (index === 0) lines.push(`${lines.pop() ?? ''}${text}`);
      else lines.push(text);
    }
  }
  return lines.map(collapseWhitespace).filter((line) => line !== '');
}

function getHrefAt(leaves: RichText[], index: number): string | undefined {
  const leaf = leaves[index];
  return leaf && getHref(leaf);
}

/**
 * The lines of adjacent leaves; if they are a link, its target follows the text, unless the text is the
 * target.
 */
function appendTarget(leaves: RichText[], href: string | undefined): string[] {
  const lines = [''];
  for (const leaf of leaves) {
    if (leaf.type === 'hardBreak') lines.push('');
    else lines.push(`${lines.pop() ?? ''}${toText(leaf)}`);
  }
  const linkText = collapseWhitespace(lines.join(' '));
  if (
    href === undefined ||
    [href, href.replace('mailto:', '')].includes(linkText) ||
    safeHref(linkText) === href
  )
    return lines;
  const last = lines.pop() ?? '';
  const end = last.trimEnd();
  const target =
    linkText === '' ? removeInvalidCharacters(href) : `${end} (${removeInvalidCharacters(href)})`;
  return [...lines, `${target}${last.slice(end.length)}`];
}

function paragraph(lines: string[]): Paragraph[] {
  const full = lines.filter((line) => line !== '');
  if (full.length === 0) return [];
  const children = full.flatMap((value, index): Paragraph['children'] =>
    index === 0 ? [{ type: 'text', value }] : [{ type: 'break' }, { type: 'text', value }],
  );
  return [{ type: 'paragraph', children }];
}

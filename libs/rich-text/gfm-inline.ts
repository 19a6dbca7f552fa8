/** Converts the inline content of a block to Markdown phrasing: text, marks, links, images and line breaks. */
import { Buffer } from 'node:buffer';
import type { Break, Html, PhrasingContent, Text } from 'mdast';
import { getString } from './attributes.ts';
import { parsePageImage } from './image.ts';
import { getHref, safeHref } from './link.ts';
import { collapseWhitespace, removeInvalidCharacters, toText } from './text.ts';
import type { RichText } from './tree.ts';

/**
 * A part of the content with what it is wrapped in: names of marks, and the target of a link. A `space` collapses,
 * a `blank` is another white space, such as a no-break space.
 */
type Piece = {
  type: 'text' | 'space' | 'blank' | 'lineBreak' | 'image';
  value: PhrasingContent;
  wrappings: string[];
};

/**
 * The order of wrappings, outermost first. Tags of HTML are outside, because a tag next to the inner side of
 * an emphasis marker could disable it.
 */
const order = ['superscript', 'subscript', 'link', 'bold', 'italic', 'strike', 'code'];

/**
 * Converts leaves of a textblock. White space is collapsed as in a browser; empty lines are dropped.
 * `lineBreak` is what a hard break becomes.
 */
export function toPhrasing(
  leaves: RichText[],
  { lineBreak = { type: 'break' } }: { lineBreak?: Break | Html | Text } = {},
): PhrasingContent[] {
  const pieces = leaves.flatMap((leaf): Piece[] => {
    if (leaf.type !== 'hardBreak') return toPieces(leaf);
    const type = lineBreak.type === 'text' ? 'space' : 'lineBreak';
    return [{ type, value: lineBreak, wrappings: getWrappings(leaf).filter((one) => one !== 'code') }];
  });
  return nest(joinGaps(pieces), 0);
}

function toPieces(leaf: RichText): Piece[] {
  const wrappings = getWrappings(leaf);
  if (leaf.type !== 'image') return splitAtSpaces(toText(leaf), wrappings);
  const alt = collapseWhitespace(toText(leaf));
  const image = parsePageImage(leaf.attrs?.src);
  if (image) {
    const url = `data:${image.mime};base64,${Buffer.from(image.bytes).toString('base64')}`;
    const title = collapseWhitespace(removeInvalidCharacters(getString(leaf, 'title'))) || null;
    const links = wrappings.filter((one) => one.startsWith('link'));
    return [{ type: 'image', value: { type: 'image', url, alt, title }, wrappings: links }];
  }
  const remote = safeHref(leaf.attrs?.src);
  if (!remote?.startsWith('https:')) return splitAtSpaces(alt, wrappings);
  return splitAtSpaces(alt || remote, getWrappings(leaf, remote));
}

function splitAtSpaces(text: string, wrappings: string[]): Piece[] {
  const parts = text.split(/([ \t\r\n]+|\s)/).filter((part) => part !== '');
  return parts.map((part): Piece => {
    if (/^[ \t\r\n]/.test(part)) return { type: 'space', value: { type: 'text', value: ' ' }, wrappings };
    return { type: /^\s/.test(part) ? 'blank' : 'text', value: { type: 'text', value: part }, wrappings };
  });
}

/** The wrappings of a leaf in a fixed order, so that neighbours nest alike; `link` is used if no mark links. */
function getWrappings(leaf: RichText, link?: string): string[] {
  const marks = new Set(leaf.marks?.map((mark) => mark.type));
  const href = getHref(leaf) ?? link;
  return order.flatMap((name) => {
    if (name === 'link') return href === undefined ? [] : [`link ${href}`];
    return marks.has(name) ? [name] : [];
  });
}

/**
 * Collapses spaces and line breaks, and drops them at the ends. A gap is only wrapped in what wraps both
 * neighbours: Markdown has no emphasis that starts or ends with a space.
 */
function joinGaps(pieces: Piece[]): Piece[] {
  const joined: Piece[] = [];
  let gaps: Piece[] = [];
  const addGaps = (next?: Piece) => {
    const before = joined.at(-1);
    const neighbours = getShared(before?.wrappings ?? [], next?.wrappings ?? []);
    const wrappings = gaps.map((gap) => gap.wrappings).reduce(getShared, neighbours);
    const collapsed = collapse(gaps);
    if (!before && isCollapsible(collapsed[0])) collapsed.shift();
    if (!next && isCollapsible(collapsed.at(-1))) collapsed.pop();
    for (const gap of collapsed) joined.push({ ...gap, wrappings });
    gaps = [];
  };
  for (const piece of pieces) {
    if (piece.type === 'blank' || isCollapsible(piece)) gaps.push(piece);
    else {
      addGaps(piece);
      joined.push(piece);
    }
  }
  addGaps();
  return joined;
}

/** Replaces each run of spaces and line breaks by one of them; a line break wins. */
function collapse(gaps: Piece[]): Piece[] {
  const collapsed: Piece[] = [];
  for (const gap of gaps) {
    const last = collapsed.at(-1);
    if (!isCollapsible(last) || !isCollapsible(gap)) collapsed.push(gap);
    else if (last.type === 'space') collapsed[collapsed.length - 1] = gap;
  }
  return collapsed;
}

function isCollapsible(piece: Piece | undefined): piece is Piece {
  return piece?.type === 'space' || piece?.type === 'lineBreak';
}

/** The wrappings that two neighbours share, up to the first that differs. */
function getShared(some: string[], others: string[]): string[] {
  const end = some.findIndex((one, at) => others[at] !== one);
  return end === -1 ? some : some.slice(0, end);
}

/** Nests pieces; adjacent pieces with the same wrapping share its node, and adjacent texts are joined. */
function nest(pieces: Piece[], level: number): PhrasingContent[] {
  const nodes: PhrasingContent[] = [];
  for (let start = 0, end = 0; start < pieces.length; start = end) {
    const wrapping = pieces[start]?.wrappings[level];
    end = start + 1;
    while (end < pieces.length && pieces[end]?.wrappings[level] === wrapping) end += 1;
    const group = pieces.slice(start, end);
    const inner =
      wrapping === undefined
        ? joinTexts(group.map(({ value }) => value))
        : wrap(wrapping, nest(group, level + 1));
    for (const node of inner) nodes.push(node);
  }
  return nodes;
}

function wrap(wrapping: string, children: PhrasingContent[]): PhrasingContent[] {
  if (wrapping === 'bold') return [{ type: 'strong', children }];
  if (wrapping === 'italic') return [{ type: 'emphasis', children }];
  if (wrapping === 'strike') return [{ type: 'delete', children }];
  if (wrapping === 'code') return children.map(toInlineCode);
  if (wrapping === 'superscript') return [tag('<sup>'), ...children, tag('</sup>')];
  if (wrapping === 'subscript') return [tag('<sub>'), ...children, tag('</sub>')];
  // links are never nested, so the children of a link are no links
  return [{ type: 'link', url: wrapping.slice('link '.length), children: children as never }];
}

function toInlineCode(node: PhrasingContent): PhrasingContent {
  return node.type === 'text' ? { type: 'inlineCode', value: node.value } : node;
}

function tag(value: string): Html {
  return { type: 'html', value };
}

function joinTexts(nodes: PhrasingContent[]): PhrasingContent[] {
  const joined: PhrasingContent[] = [];
  for (const node of nodes) {
    const last = joined.at(-1);
    if (node.type === 'text' && last?.type === 'text') last.value += node.value;
    else joined.push(node.type === 'text' ? { ...node } : node);
  }
  return joined;
}

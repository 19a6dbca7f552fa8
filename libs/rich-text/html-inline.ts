/** Shows the text within a block as HTML: marks as elements, safe links, images that are carried in the text. */
import { Buffer } from 'node:buffer';
import { getString } from './attributes.ts';
import { parseImage } from './image.ts';
import { getHref, safeHref } from './link.ts';
import { type Attributes, element, escapeHtml, type Html, joinHtml } from './markup.ts';
import { toText } from './text.ts';
import type { RichText } from './tree.ts';

type Wrapping = { name: string; href?: string };
type Piece = { html: Html; wrappings: Wrapping[] };

/** The elements of the known marks, from the outermost to the innermost; a link is around them all. */
const elements = new Map([
  ['bold', 'strong'],
  ['italic', 'em'],
  ['strike', 's'],
  ['underline', 'u'],
  ['highlight', 'mark'],
  ['subscript', 'sub'],
  ['superscript', 'sup'],
  ['code', 'code'],
]);

/** The leaves of one textblock (text, hard breaks, images) as HTML; neighbours under the same link or mark share its element. */
export function inlineHtml(leaves: RichText[]): Html {
  return nest(leaves.map(toPiece), 0);
}

function nest(pieces: Piece[], level: number): Html {
  const html: Html[] = [];
  for (let start = 0, end = 0; start < pieces.length; start = end) {
    const around = pieces[start]?.wrappings[level];
    end = start + 1;
    while (end < pieces.length && isSame(pieces[end]?.wrappings[level], around)) end += 1;
    const group = pieces.slice(start, end);
    if (!around) for (const one of group) html.push(one.html);
    else html.push(element(around.name, toAttributes(around), nest(group, level + 1)));
  }
  return joinHtml(html);
}

function isSame(one: Wrapping | undefined, other: Wrapping | undefined): boolean {
  return one?.name === other?.name && one?.href === other?.href;
}

/** Pages open beside this one, which may be framed: most of them could not be shown in the frame. */
function toAttributes({ href }: Wrapping): Attributes {
  if (href === undefined) return {};
  const target = href.startsWith('http') ? '_blank' : undefined;
  return { href, target, rel: 'noopener noreferrer nofollow' };
}

function toPiece(leaf: RichText): Piece {
  if (leaf.type === 'hardBreak') return { html: element('br', {}), wrappings: getWrappings(leaf) };
  if (leaf.type !== 'image') return { html: escapeHtml(toText(leaf)), wrappings: getWrappings(leaf) };
  const alt = toText(leaf);
  const image = parseImage(leaf.attrs?.src);
  if (image) {
    const { mime, bytes, width, height } = image;
    const src = `data:${mime};base64,${Buffer.from(bytes).toString('base64')}`;
    const title = getString(leaf, 'title') || undefined;
    return { html: element('img', { src, alt, title, width, height }), wrappings: getWrappings(leaf) };
  }
  const remote = safeHref(leaf.attrs?.src);
  if (!remote?.startsWith('https:')) return { html: escapeHtml(alt), wrappings: getWrappings(leaf) };
  return { html: escapeHtml(alt || remote), wrappings: getWrappings(leaf, remote) };
}

/** Each known mark once, in one fixed order, so that neighbours nest alike; `link` is the target when no mark has one. */
function getWrappings(leaf: RichText, link?: string): Wrapping[] {
  const href = getHref(leaf) ?? link;
  const wrappings: Wrapping[] = href === undefined ? [] : [{ name: 'a', href }];
  const marks = new Set(leaf.marks?.map((mark) => mark.type));
  for (const [mark, name] of elements) if (marks.has(mark)) wrappings.push({ name });
  return wrappings;
}

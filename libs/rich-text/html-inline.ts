/** Renders the inline content of a block as HTML: text with marks, safe links and embedded images. */
import { Buffer } from 'node:buffer';
import { getString } from './attributes.ts';
import { getColor, getColorName } from './color.ts';
import { parsePageImage } from './image.ts';
import { getHref, safeHref } from './link.ts';
import { type Attributes, element, escapeHtml, type Html, joinHtml } from './markup.ts';
import { getDisplaySize } from './picture-size.ts';
import { toText } from './text.ts';
import type { RichText } from './tree.ts';

/** Returns the address and the original size in pixels of the picture that shows an image with this `src`. */
export type FindPicture = (src: unknown) => { src: string; width: number; height: number } | undefined;

type Wrapping = { name: string; href?: string; className?: string };
type Piece = { html: Html; wrappings: Wrapping[] };

/** The elements of the known marks, outermost first; a link and a colour wrap all of them. */
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

/**
 * Renders the leaves of a textblock (text, hard breaks, images); adjacent leaves with the same mark share its
 * element.
 */
export function inlineHtml(leaves: RichText[], findPicture: FindPicture): Html {
  return nest(
    leaves.map((leaf) => toPiece(leaf, findPicture)),
    0,
  );
}

function nest(pieces: Piece[], level: number): Html {
  const html: Html[] = [];
  for (let start = 0, end = 0; start < pieces.length; start = end) {
    const wrapping = pieces[start]?.wrappings[level];
    end = start + 1;
    while (end < pieces.length && isSame(pieces[end]?.wrappings[level], wrapping)) end += 1;
    const group = pieces.slice(start, end);
    if (!wrapping) for (const leaf of group) html.push(leaf.html);
    else html.push(element(wrapping.name, toAttributes(wrapping), nest(group, level + 1)));
  }
  return joinHtml(html);
}

function isSame(one: Wrapping | undefined, other: Wrapping | undefined): boolean {
  return one?.name === other?.name && one?.href === other?.href && one?.className === other?.className;
}

/** Web links open in a new tab: the page may be in a frame, and most sites do not allow framing. */
function toAttributes({ href, className }: Wrapping): Attributes {
  if (href === undefined) return { class: className };
  const target = href.startsWith('http') ? '_blank' : undefined;
  return { href, target, rel: 'noopener noreferrer nofollow' };
}

function toPiece(leaf: RichText, findPicture: FindPicture): Piece {
  if (leaf.type === 'hardBreak') return { html: element('br', {}), wrappings: getWrappings(leaf) };
  if (leaf.type !== 'image') return { html: escapeHtml(toText(leaf)), wrappings: getWrappings(leaf) };
  const alt = toText(leaf);
  const picture = findPicture(leaf.attrs?.src) ?? embedPicture(leaf.attrs?.src);
  if (picture) {
    const title = getString(leaf, 'title') || undefined;
    const { width, height } = getDisplaySize(leaf, picture);
    const size = { width: Math.max(1, Math.round(width)), height: Math.max(1, Math.round(height)) };
    return { html: element('img', { src: picture.src, alt, title, ...size }), wrappings: getWrappings(leaf) };
  }
  const remote = safeHref(leaf.attrs?.src);
  if (!remote?.startsWith('https:')) return { html: escapeHtml(alt), wrappings: getWrappings(leaf) };
  return { html: escapeHtml(alt || remote), wrappings: getWrappings(leaf, remote) };
}

/** Returns an image that is embedded as a `data:` URI. */
function embedPicture(value: unknown): ReturnType<FindPicture> {
  const image = parsePageImage(value);
  if (!image) return undefined;
  const { mime, bytes, width, height } = image;
  return { src: `data:${mime};base64,${Buffer.from(bytes).toString('base64')}`, width, height };
}

/**
 * The elements around a leaf, in a fixed order so that neighbours nest alike; `link` is used if no mark has a
 * target.
 */
function getWrappings(leaf: RichText, link?: string): Wrapping[] {
  const href = getHref(leaf) ?? link;
  const wrappings: Wrapping[] = href === undefined ? [] : [{ name: 'a', href }];
  const color = getColor(leaf);
  const colorName = color && getColorName(color);
  if (colorName) wrappings.push({ name: 'span', className: `color-${colorName}` });
  const marks = new Set(leaf.marks?.map((mark) => mark.type));
  for (const [mark, name] of elements) if (marks.has(mark)) wrappings.push({ name });
  return wrappings;
}

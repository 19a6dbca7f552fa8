/** Short words for building trees in tests. */
import type { Mark, RichText } from './tree.ts';

/** A node with these children; a string becomes a text. */
export function node(type: string, ...content: (RichText | string)[]): RichText {
  return { type, content: content.map((child) => (typeof child === 'string' ? text(child) : child)) };
}

/** A node of this type with attributes, and children as for `node`. */
export function nodeWith(
  type: string,
  attrs: Record<string, unknown>,
  ...content: (RichText | string)[]
): RichText {
  return { ...node(type, ...content), attrs };
}

/** A text under marks; a string names a mark without attributes. */
export function text(words: string, ...marks: (Mark | string)[]): RichText {
  if (marks.length === 0) return { type: 'text', text: words };
  return {
    type: 'text',
    text: words,
    marks: marks.map((mark) => (typeof mark === 'string' ? { type: mark } : mark)),
  };
}

/** A link mark to this target. */
export function link(href: unknown): Mark {
  return { type: 'link', attrs: { href } };
}

/** A paragraph. */
export const p = (...content: (RichText | string)[]) => node('paragraph', ...content);

/** A document. */
export const doc = (...content: RichText[]) => node('doc', ...content);

/** A list item of one paragraph and whatever comes after it. */
export const li = (words: string, ...more: RichText[]) => node('listItem', p(words), ...more);

/** A hard break. */
export const br: RichText = { type: 'hardBreak' };

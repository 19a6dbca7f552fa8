/** Short functions that build rich-text trees in tests. */
import type { Mark, RichText } from './tree.ts';

/** A node with children; a string becomes a text node. */
export function node(type: string, ...content: (RichText | string)[]): RichText {
  return { type, content: content.map((child) => (typeof child === 'string' ? text(child) : child)) };
}

/** A node with attributes; children as for `node`. */
export function nodeWith(
  type: string,
  attrs: Record<string, unknown>,
  ...content: (RichText | string)[]
): RichText {
  return { ...node(type, ...content), attrs };
}

/** A text node with marks; a string names a mark without attributes. */
export function text(value: string, ...marks: (Mark | string)[]): RichText {
  if (marks.length === 0) return { type: 'text', text: value };
  return {
    type: 'text',
    text: value,
    marks: marks.map((mark) => (typeof mark === 'string' ? { type: mark } : mark)),
  };
}

/** A link mark. */
export function link(href: unknown): Mark {
  return { type: 'link', attrs: { href } };
}

/** A paragraph. */
export const p = (...content: (RichText | string)[]) => node('paragraph', ...content);

/** A document. */
export const doc = (...content: RichText[]) => node('doc', ...content);

/** A list item with one paragraph, followed by more blocks. */
export const li = (value: string, ...more: RichText[]) => node('listItem', p(value), ...more);

/** A hard break. */
export const br: RichText = { type: 'hardBreak' };

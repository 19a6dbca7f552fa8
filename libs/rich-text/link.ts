/** Decides which link targets may leave the house: those of the web and of mail. */
import type { RichText } from './tree.ts';

const schemes = new Set(['http:', 'https:', 'mailto:']);

/** The normalised href of an absolute http, https or mailto link, else undefined; control characters never count (WHATWG URL). */
export function safeHref(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  const url = URL.parse(value.replace(/\p{Cc}/gu, '').trim());
  return url && schemes.has(url.protocol) ? url.href : undefined;
}

/** The safe target of the first link mark on a node that has one, else undefined. */
export function getHref(node: RichText): string | undefined {
  for (const mark of node.marks ?? []) {
    const href = mark.type === 'link' ? safeHref(mark.attrs?.href) : undefined;
    if (href !== undefined) return href;
  }
  return undefined;
}

/** Decides which link targets are safe: absolute http, https and mailto URLs. */
import type { RichText } from './tree.ts';

const schemes = new Set(['http:', 'https:', 'mailto:']);

/** Normalizes an http, https or mailto URL without control characters (WHATWG URL); else undefined. */
export function safeHref(value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  const url = URL.parse(value.replace(/\p{Cc}/gu, '').trim());
  return url && schemes.has(url.protocol) ? url.href : undefined;
}

/** The target of the node's first link mark with a safe target, else undefined. */
export function getHref(node: RichText): string | undefined {
  for (const mark of node.marks ?? []) {
    const href = mark.type === 'link' ? safeHref(mark.attrs?.href) : undefined;
    if (href !== undefined) return href;
  }
  return undefined;
}

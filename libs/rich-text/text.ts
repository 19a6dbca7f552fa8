/** Extracts plain text from rich text, for the search index and for other output formats. */
import { getString } from './attributes.ts';
import { getCallout } from './callout.ts';
import type { RichText } from './tree.ts';
import { walk } from './tree.ts';
import { isTextblock, toWellFormed } from './well-formed.ts';

/**
 * The plain text: one line per non-empty block, without bullets, marks and link targets; an image gives its
 * alt text, a callout starts with a line of its signal word.
 */
export function toPlainText(content: RichText): string {
  const lines: string[] = [];
  for (const { node } of walk(toWellFormed(content))) {
    if (node.type === 'callout') lines.push(getCallout(node).signalWord);
    if (!isTextblock(node)) continue;
    const line = collapseWhitespace((node.content ?? []).map(toText).join(''));
    if (line !== '') lines.push(line);
  }
  return lines.join('\n');
}

/** The text of a leaf: a line feed for a hard break, the alt text for an image. */
export function toText(leaf: RichText): string {
  if (leaf.type === 'hardBreak') return '\n';
  return removeInvalidCharacters(leaf.type === 'image' ? getString(leaf, 'alt') : (leaf.text ?? ''));
}

/** Collapses white space as browsers do: each run becomes one space, and the ends are trimmed. */
export function collapseWhitespace(text: string): string {
  return text.replace(/[ \t\r\n]+/g, ' ').replace(/^ | $/g, '');
}

/**
 * Makes text valid in XML 1.0 (section 2.2): removes U+FFFE, U+FFFF and control characters except tab and
 * line breaks, and replaces lone surrogates by U+FFFD.
 */
export function removeInvalidCharacters(text: string): string {
  return text.toWellFormed().replace(/(?![\t\r\n])\p{Cc}|[\uFFFE\uFFFF]/gu, '');
}

/** What a tree says, without its form: the plain text for a search index, and the pieces of it that other forms share. */
import { getString } from './attributes.ts';
import type { RichText } from './tree.ts';
import { walk } from './tree.ts';
import { isTextblock, toWellFormed } from './well-formed.ts';

/** The plain text, one line for each block that says something, without bullets, marks or link targets; images by their alt text. */
export function toPlainText(content: RichText): string {
  const lines: string[] = [];
  for (const { node } of walk(toWellFormed(content))) {
    if (!isTextblock(node)) continue;
    const line = collapseWhitespace((node.content ?? []).map(toText).join(''));
    if (line !== '') lines.push(line);
  }
  return lines.join('\n');
}

/** The text of one leaf: its own, a line end for a hard break, an image's alt text. */
export function toText(leaf: RichText): string {
  if (leaf.type === 'hardBreak') return '\n';
  return removeInvalidCharacters(leaf.type === 'image' ? getString(leaf, 'alt') : (leaf.text ?? ''));
}

/** The text in one line as a browser would lay it out: each run of white space is one space, none at the ends. */
export function collapseWhitespace(text: string): string {
  return text.replace(/[ \t\r\n]+/g, ' ').replace(/^ | $/g, '');
}

/** The text without what no document can carry: control characters but tab and line ends, lone surrogates, U+FFFE and U+FFFF (XML 1.0, 2.2). */
export function removeInvalidCharacters(text: string): string {
  return text.toWellFormed().replace(/(?![\t\r\n])\p{Cc}|[\uFFFE\uFFFF]/gu, '');
}

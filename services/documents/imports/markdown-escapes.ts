/** Keeps what a writer of Markdown has escaped as text: addresses and the marks of GitHub's alerts. */
import type { Blockquote, Link, Literal, Nodes, Parents, Root } from 'mdast';
import type { CompileContext, Extension, Token } from 'mdast-util-from-markdown';

/** A character that is written as `\:` or `&#58;`. It is no part of the texts beside it. */
interface Escape extends Literal {
  type: 'escape';
}

declare module 'mdast' {
  interface PhrasingContentMap {
    escape: Escape;
  }
  interface RootContentMap {
    escape: Escape;
  }
  interface BlockquoteData {
    /** `dataAlert` is false if the quote only looks like an alert. */
    hProperties?: { dataAlert: false };
  }
}

/** Comes after the extensions that find addresses in the texts: they find none with an escape in it. */
export const escapes: Extension = {
  enter: { characterEscape: enterEscape, characterReference: enterEscape },
  transforms: [joinTexts],
};

function enterEscape(this: CompileContext, { start, end }: Token): void {
  const node: Escape = { type: 'escape', value: '', position: { start, end } };
  const parent = this.stack.at(-1);
  if (parent && 'children' in parent) (parent.children as Nodes[]).push(node);
  this.stack.push(node);
}

/**
 * Makes one text of each text and the escapes beside it. A bare address in the word that begins with an escape is text,
 * too, such as that in `\<mailto:a@example.com>`.
 */
function joinTexts(parent: Root | Parents): void {
  const children: Nodes[] = [];
  let isInWord = false;
  for (const child of parent.children) {
    if (child.type === 'blockquote' && isEscapedAlert(child))
      child.data = { hProperties: { dataAlert: false } };
    if ('children' in child) joinTexts(child);
    const text = readText(child, isInWord);
    const last = children.at(-1);
    if (text === undefined) children.push(child);
    else if (last?.type === 'text') last.value += text;
    else children.push({ type: 'text', value: text });
    isInWord = text !== undefined && (child.type === 'escape' || isInWord) && !/\s/.test(text);
  }
  parent.children = children as Parents['children'];
}

/** The text that a node is; undefined if it is no text. */
function readText(node: Nodes, isInWord: boolean): string | undefined {
  if (node.type === 'text' || node.type === 'escape') return node.value;
  return isInWord && node.type === 'link' ? readBareAddress(node) : undefined;
}

/** The address of a link that is written without marks. */
function readBareAddress({ children: [text], position }: Link): string | undefined {
  if (text?.type !== 'text') return undefined;
  const length = position && (position.end.offset ?? 0) - (position.start.offset ?? 0);
  return length === undefined || length === text.value.length ? text.value : undefined;
}

/** Whether a quote begins with the mark of an alert in which a character is escaped. */
function isEscapedAlert({ children: [first] }: Blockquote): boolean {
  if (first?.type !== 'paragraph') return false;
  let text = '';
  let hasEscape = false;
  for (const child of first.children) {
    if (text.includes(']') || (child.type !== 'text' && child.type !== 'escape')) break;
    hasEscape ||= child.type === 'escape';
    text += child.value;
  }
  return hasEscape && /^\[![A-Z]+\]/.test(text);
}
